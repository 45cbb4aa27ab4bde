"""The calls of a turn as tokens: what each asks for when it begins, and what its result or failure means."""

from jeton.model import decision as d
from jeton.model.definition.task import DEFAULT_TASK_TIMEOUT_MS
from jeton.model.definition.workflow import WorkflowTarget
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.ids import child_run_id
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunState, Token
from jeton.model.state.talk import Turn, TurnError, place_of
from jeton.model.transcript import messages_of, unpaired
from jeton.planning.program.workflow import Program
from jeton.planning.turns.answer import plan_reply
from jeton.planning.turns.approval import plan_call
from jeton.planning.turns.budget import UPKEEP, plan_budget, plan_budget_gate, settle_day, short_of
from jeton.planning.turns.context import (
    assembly_input,
    plan_assembled,
    plan_recalled,
    plan_similar,
    recall_input,
    recent_turn,
    similar_input,
)
from jeton.planning.turns.places import agent_in, kind_of_node, program_of, turn_of
from jeton.planning.turns.stop import end_turn, failed_token
from jeton.planning.turns.tools import answer_call, call_again, failed_call, is_once
from jeton.planning.turns.window import compaction_input


def plan_call_held(program: Program, state: RunState, token: Token, now: int) -> list[d.Decision] | None:
    """What follows if a call may not be made for want of budget. None if it may.

    A model call ends its turn, or people are asked. Without memories or a summary a turn goes on."""
    short = short_of(program, state, token, now)
    if not isinstance(short, str):
        return short
    if kind_of_node(token.node) == "model":
        return plan_budget(program, state, token, now, short)
    return plan_call_failure(program, state, token, TaskFailed("budget_exhausted", short), now)


def plan_call_begin(program: Program, state: RunState, token: Token, now: int) -> list[d.Decision]:
    """Begin a call."""
    turn = turn_of(state, token)
    match kind_of_node(token.node):
        case "model":
            problem = unpaired(messages_of(state.talk, turn.number))
            if problem is not None:
                raise BrokenInvariant(f"a request has tool calls and results that do not match: {problem}")
            return _dispatch(program, turn, token, None, now)
        case "budget":
            return plan_budget_gate(program, state, token, now)
        case "tool":
            return plan_call(program, state, token, now)
        case "timeout":
            allowed = agent_in(program, turn).persona.turn_timeout_ms or 0
            return [d.WaitForTimer(token.id, token.node, now, now + allowed)]
        case "assembly":
            return _work(program, state, turn, token, assembly_input(program, state, turn), now)
        case "recall":
            return _work(program, state, turn, token, recall_input(program, state, turn), now)
        case "similar":
            return _work(program, state, turn, token, similar_input(state, turn), now)
        case "extraction":
            given: JsonObject = {**recent_turn(state, turn.number), "conversation_id": state.head.run}
            if turn.similar is not None:
                given["memories"] = list(turn.similar)
            return _work(program, state, turn, token, given, now)
        case "compaction":
            older = compaction_input(state, place_of(token.path)[1] or 0)
            return _work(program, state, turn, token, older, now)
        case kind:
            raise BrokenInvariant("a call of no known kind", kind=kind)


def _work(program: Program, state: RunState, turn: Turn, token: Token, given: JsonObject, now: int) -> list[d.Decision]:
    """Run the workflow or the task of a node. A task that calls a model is told what is used up of its script."""
    target = program_of(program, turn).nodes[token.node].definition.target
    if isinstance(target, WorkflowTarget):
        child = child_run_id(state.head.run, token.id)
        return [d.CallWorkflow(token.id, token.node, now, child, target.workflow, given)]
    used = state.talk.head.script.get(turn.agent, ())
    if used and kind_of_node(token.node) in UPKEEP:
        given = {**given, "used": [[first, last] for first, last in used]}
    return _dispatch(program, turn, token, given, now)


def _dispatch(program: Program, turn: Turn, token: Token, given: Json, now: int) -> list[d.Decision]:
    timeout = program_of(program, turn).nodes[token.node].timeout
    allowed = timeout if isinstance(timeout, int) else DEFAULT_TASK_TIMEOUT_MS
    if given is None:  # a model call, whose input is built from the conversation
        return [d.DispatchToken(token.id, token.node, now, now + allowed, 1)]
    return [d.DispatchToken(token.id, token.node, now, now + allowed, 1, given)]


def plan_call_success(program: Program, state: RunState, token: Token, result: Json, now: int) -> list[d.Decision]:
    """Take the result of a call."""
    turn, done = turn_of(state, token), d.RouteToken(token.id, token.node, "completed")
    match kind_of_node(token.node):
        case "model":
            return plan_reply(program, state, token, result, now)
        case "tool":
            return answer_call(program, state, token, result)
        case "assembly":
            return plan_assembled(program, state, token, result, now)
        case "recall":
            return plan_recalled(state, token, result, now)
        case "similar":
            return plan_similar(state, token, result)
        case "extraction":
            used = result.get("used") if isinstance(result, dict) else None
            scripted = tuple(each for each in used if isinstance(each, int)) if isinstance(used, list) else ()
            script: list[d.Decision] = [d.UseScript(turn.agent, scripted)] if scripted else []
            return [done, *script, *end_turn(state, turn, now, "completed", after=token)]
        case "compaction":
            return [*_plan_compacted(state, turn, token, result), *settle_day(turn, now)]
        case "timeout":
            allowed = agent_in(program, turn).persona.turn_timeout_ms
            error = TurnError("timed_out", f"the turn was not done {allowed} ms after it began")
            return [done, *end_turn(state, turn, now, "failed", error, token)]
        case kind:
            raise BrokenInvariant("a call of no known kind", kind=kind)


def plan_call_failure(
    program: Program, state: RunState, token: Token, failure: TaskFailed, now: int
) -> list[d.Decision]:
    """Take the failure of a call: an error result of a tool, an issue, or the end of the turn."""
    turn, done = turn_of(state, token), failed_token(token, failure.type)
    match kind_of_node(token.node):
        case "tool" if again := call_again(program, state, token, failure, now):
            return again
        case "tool":
            failed = failed_call(failure, once=is_once(program, state, token))
            return answer_call(program, state, token, failed)
        case "extraction" | "similar":
            flag = d.FlagTurn(turn.number, "memory_extraction_failed", failure.message)
            return [done, flag, *end_turn(state, turn, now, "completed", after=token)]
        case "compaction":
            return [done, *_leave_out(state, turn, token, failure.message), *settle_day(turn, now)]
        case "assembly" | "recall":
            error = TurnError("assembly_failed", f"context assembly failed: {failure.message}")
            return [done, *end_turn(state, turn, now, "failed", error, token)]
        case _:
            error = TurnError(failure.type, failure.message)
            return [done, *end_turn(state, turn, now, "failed", error, token)]


def _plan_compacted(state: RunState, turn: Turn, token: Token, result: Json) -> list[d.Decision]:
    done = d.RouteToken(token.id, token.node, "completed")
    summary = result.get("summary") if isinstance(result, dict) else None
    if not isinstance(summary, str) or not summary:
        return [done, *_leave_out(state, turn, token, "no summary came back")]
    used = result.get("used") if isinstance(result, dict) else None
    scripted = tuple(each for each in used if isinstance(each, int)) if isinstance(used, list) else ()
    script: list[d.Decision] = [d.UseScript(turn.agent, scripted)] if scripted else []
    upto = place_of(token.path)[1] or 0
    older = (each for number, each in state.talk.turns.items() if number <= upto and each.phase == "ended")
    tainted = state.talk.head.tainted or any(each.tainted for each in older)
    return [done, *script, d.ShrinkWindow(upto, "compacted", summary, tainted)]


def _leave_out(state: RunState, turn: Turn, token: Token, why: str) -> list[d.Decision]:
    """Leave the oldest turns out of the window, because they could not be summarised."""
    flag = d.FlagTurn(turn.number, "compaction_failed", why)
    return [flag, d.ShrinkWindow(place_of(token.path)[1] or 0, "left_out")]
