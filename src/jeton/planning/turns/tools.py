"""Tool calls: which may start, what each asks for, and what its result means."""

from difflib import get_close_matches

from jeton.expression import Expression, Failed
from jeton.expression.counts import NotACount, count_of
from jeton.expression.mapping import build_tree, evaluate_mapping, failure_text
from jeton.expression.schema import dotted_path
from jeton.model import decision as d
from jeton.model.chat import ToolCall, ToolError, ToolErrorCode, ToolResult
from jeton.model.definition.agent import DEFAULT_RESULT_BYTES, AgentTool
from jeton.model.definition.task import DEFAULT_TASK_TIMEOUT_MS, RetryPolicy
from jeton.model.definition.workflow import AgentTarget, WorkflowTarget
from jeton.model.failure import TaskFailed
from jeton.model.ids import child_run_id
from jeton.model.json import Json, JsonObject
from jeton.model.preview import fitted
from jeton.model.state.phase import Pending, WaitingForGate, WaitingForSubworkflow
from jeton.model.state.run import RunState, Token
from jeton.model.state.talk import Caller, CallResult, Said, Turn, place_of
from jeton.model.transcript import depth_of, json_text
from jeton.planning.program.talk import CompiledTool
from jeton.planning.program.workflow import Program
from jeton.planning.turns.places import (
    CallPlace,
    agent_in,
    call_of,
    new_call,
    program_of,
    tokens_of,
    tool_in,
    turn_of,
)
from jeton.planning.turns.stop import failed_token
from jeton.planning.waits.retry import retry_delay_ms

MAX_MISFITS = 20


def call_problem(program: Program, state: RunState, turn: Turn, call: ToolCall) -> ToolError | None:
    """Why a call cannot be made: no such tool, or an input that does not fit; every misfit is named."""
    given = state.talk.given[turn.number]
    tool = tool_in(program, turn, call.name)
    if tool is None or (given.tools is not None and call.name not in given.tools):
        known = list(given.tools if given.tools is not None else agent_in(program, turn).tools)
        near = get_close_matches(call.name, known, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"the tools are: {', '.join(known) or 'none'}"
        return ToolError("NOT_FOUND", f"there is no tool '{call.name}'; {hint}", True)
    if call.raw is not None:
        return ToolError("INVALID_INPUT", "the arguments are not a JSON object; write them as one", True)
    return input_problem(tool, call.input)


def input_problem(tool: CompiledTool, value: Json) -> ToolError | None:
    """Every misfit of an input, in one error."""
    if tool.validator is None:
        return None
    misfits = [f"{dotted_path('input', each.path)}: {each.problem}" for each in tool.validator.misfits(value)]
    if not misfits:
        return None
    more = f" (and {len(misfits) - MAX_MISFITS} more)" if len(misfits) > MAX_MISFITS else ""
    return ToolError("INVALID_INPUT", "; ".join(misfits[:MAX_MISFITS]) + more, True)


def plan_calls(program: Program, state: RunState, turn: Turn, now: int) -> list[d.Decision]:
    """Begin the calls of the last move, and make those that were held and whose time has come."""
    move = turn.moves - 1
    tokens = {call_of(state, token).position: token for token in _tool_tokens(state, turn)}
    decisions: list[d.Decision] = []
    created = 0
    for index, call in enumerate(state.talk.calls_of(turn.number, move)):
        if index in tokens or (turn.number, move, index) in state.talk.results:
            continue
        tool = tool_in(program, turn, call.name)
        if tool is not None and tool.definition.runs_async:
            decisions.append(d.StartAsync(turn.number, move, index))
        decisions.append(new_call(state, f"tool:{call.name}", turn.number, move, index, created))
        created += 1
    at_work = _at_work(state, turn)
    for token in _held(state, turn):
        place = call_of(state, token)
        if not _fits(program, turn, at_work, place.call):
            break
        given = state.talk.edits.get((turn.number, move, place.position), place.call.input)
        decisions += run_tool(program, state, token, given, now)
        at_work.append(place.call)
    return decisions


def make_call(program: Program, state: RunState, token: Token, given: Json, now: int) -> list[d.Decision]:
    """Make a call that needs no approval or has it: at once, or when others are done. Async ones never wait."""
    place = call_of(state, token)
    where = place.turn.number, place.move, place.position
    if where in place.turn.held:
        return []
    fits = _fits(program, place.turn, _at_work(state, place.turn), place.call)
    waits = state.head.paused or bool(_held(state, place.turn)) or not fits
    if waits and where not in place.turn.background:
        return [d.HoldCall(token.id, *where)]
    return run_tool(program, state, token, given, now)


def _fits(program: Program, turn: Turn, at_work: list[ToolCall], call: ToolCall) -> bool:
    """Whether a call may be under way beside others: not too many, and an exclusive one alone."""
    if any(_is_exclusive(program, turn, each) for each in (*at_work, call)):
        return not at_work
    return len(at_work) < agent_in(program, turn).persona.max_parallel_tools


def _at_work(state: RunState, turn: Turn) -> list[ToolCall]:
    """The sync calls of the last move that are under way."""
    return [
        call_of(state, token).call
        for token in _tool_tokens(state, turn)
        if not isinstance(token.phase, Pending | WaitingForGate) and place_of(token.path) not in turn.background
    ]


def _held(state: RunState, turn: Turn) -> list[Token]:
    """The calls that were held, in the order in which they may be made."""
    tokens = {place_of(token.path): token for token in _tool_tokens(state, turn)}
    found = [tokens[place] for place in turn.held if place in tokens]
    return [token for token in found if isinstance(token.phase, Pending)]


def _tool_tokens(state: RunState, turn: Turn) -> list[Token]:
    """The tokens of the last move's tool calls."""
    tokens = [token for token in tokens_of(state, turn.number) if token.node.startswith("tool:")]
    return [token for token in tokens if place_of(token.path)[1] == turn.moves - 1]


def _is_exclusive(program: Program, turn: Turn, call: ToolCall) -> bool:
    tool = tool_in(program, turn, call.name)
    return tool is not None and tool.definition.exclusive


def run_tool(program: Program, state: RunState, token: Token, given: Json, now: int) -> list[d.Decision]:
    """Hand a call to the executor, to a run, or to another conversation."""
    place = call_of(state, token)
    tool = tool_in(program, place.turn, place.call.name)
    if tool is None:
        return answer_call(
            program, state, token, tool_error("NOT_FOUND", f"there is no tool '{place.call.name}' any more")
        )
    mapped = _mapped(state, place.turn, tool, given)
    if isinstance(mapped, TaskFailed):
        return answer_call(program, state, token, tool_error("INTERNAL_ERROR", mapped.message))
    node = program_of(program, place.turn).nodes[token.node]
    if node.task is not None:
        timeout = node.timeout
        if isinstance(timeout, Expression):
            found = count_of("timeout_ms", timeout, {"input": mapped, "run": state.facts})
            if isinstance(found, NotACount):
                return answer_call(program, state, token, tool_error("INTERNAL_ERROR", found.message))
            timeout = found
        allowed = DEFAULT_TASK_TIMEOUT_MS if timeout is None else timeout
        return [d.DispatchToken(token.id, token.node, now, now + allowed, 1, mapped)]
    deepest = program.workflow.limits.max_depth
    if depth_of(state, place.turn) >= deepest:
        why = f"max_depth: '{place.call.name}' would be {deepest + 1} levels below the root"
        return answer_call(program, state, token, tool_error("EXECUTION_FAILED", why))
    deadline = None if tool.definition.timeout_ms is None else now + tool.definition.timeout_ms
    match node.definition.target:
        case WorkflowTarget(workflow):
            child = child_run_id(state.head.run, token.id, token.attempt)
            return [d.CallWorkflow(token.id, token.node, now, child, workflow, mapped, deadline)]
        case AgentTarget(agent, output_schema):
            return _ask_agent(program, state, token, place, tool, agent, output_schema, mapped, now, deadline)
        case _:
            return answer_call(program, state, token, tool_error("INTERNAL_ERROR", "the tool has no target"))


def call_again(program: Program, state: RunState, token: Token, failure: TaskFailed, now: int) -> list[d.Decision]:
    """Let a failed run or agent wait for another attempt, if its tool's policy has one. Tasks have their own rule."""
    node, policy = program_of(program, turn_of(state, token)).nodes[token.node], _tool_retry(program, state, token)
    if node.task is not None or policy is None or failure.type in _FINAL or token.attempt >= policy.max_attempts:
        return []
    due = now + retry_delay_ms(policy, token.attempt, state.head.run, token.id)
    return [d.RetryToken(token.id, token.node, now, due, token.attempt + 1, failure)]


_FINAL = (
    "input_invalid", "timed_out", "cancelled", "exhausted", "credits_exhausted", "budget_exhausted", "agent_declined",
    "limit_exceeded", "broken_invariant",
)  # fmt: skip
"""Failures of runs and agents after which another attempt would end in the same way, or is not wanted."""


def _tool_retry(program: Program, state: RunState, token: Token) -> RetryPolicy | None:
    place = call_of(state, token)
    tool = tool_in(program, place.turn, place.call.name)
    return None if tool is None else tool.definition.retry


def plan_next_attempt(program: Program, state: RunState, token: Token, now: int) -> list[d.Decision]:
    """Make the next attempt of a call that runs a workflow or asks an agent."""
    place = call_of(state, token)
    where = place.turn.number, place.move, place.position
    return run_tool(program, state, token, state.talk.edits.get(where, place.call.input), now)


def _waiting_agents(state: RunState, turn: Turn) -> list[str]:
    """The agent of a turn, and those that wait for it because they looped it in."""
    found, at = [turn.agent], turn.beside
    while at is not None and at in state.talk.turns:
        found.append(state.talk.turns[at].agent)
        at = state.talk.turns[at].beside
    return found


def _ask_agent(
    program: Program,
    state: RunState,
    token: Token,
    place: CallPlace,
    tool: CompiledTool,
    agent: str,
    output_schema: JsonObject | None,
    mapped: Json,
    now: int,
    deadline: int | None,
) -> list[d.Decision]:
    said = said_from(mapped, now, place.turn.agent)
    joins = isinstance(tool.definition.target, AgentTool) and tool.definition.target.mode == "loop_in"
    if joins and agent in _waiting_agents(state, place.turn):
        why = f"'{agent}' takes part in this already, and waits for the answer"
        return answer_call(program, state, token, tool_error("AGENT_DECLINED", why))
    conversation = state.head.run if joins else child_run_id(state.head.run, token.id, token.attempt)
    call = d.CallAgent(token.id, token.node, now, conversation, agent, said, not joins, output_schema, deadline)
    return [call]


def said_from(value: Json, now: int, by: str | None) -> Said:
    """The chat message in the input of an agent: its `message`, with the other fields as data."""
    if not isinstance(value, dict):
        return Said(json_text(value), now, by)
    message, rest = value.get("message"), {key: item for key, item in value.items() if key != "message"}
    text = "" if message is None else json_text(message)
    return Said(text, now, by, data=rest or None)


def _mapped(state: RunState, turn: Turn, tool: CompiledTool, given: Json) -> Json | TaskFailed:
    if tool.mapping is None:
        return given
    names: JsonObject = {"input": given, "caller": caller_view(turn.caller), "run": state.facts}
    found = evaluate_mapping(tool.mapping, names)
    if isinstance(found, Failed):
        return TaskFailed("expression_error", failure_text("input_mapping", found))
    return build_tree(found[0])


def caller_view(caller: Caller) -> JsonObject:
    """The caller of a turn, as expressions read it."""
    kind = "agent" if caller.agent is not None else "run" if caller.run is not None else "user"
    return {"type": kind, "user": caller.user, "agent": caller.agent, "run_id": caller.run}


# results


def tool_error(code: ToolErrorCode, message: str, retriable: bool = False) -> ToolError:
    """An error result."""
    return ToolError(code, message, retriable)


def answer_call(
    program: Program, state: RunState, token: Token, result: Json | ToolError, *, tainted: bool = False
) -> list[d.Decision]:
    """Record the result of a call and end its token. An async call's result is kept until it is the turn's time.

    `tainted`: it comes from an agent that has read something untrusted."""
    place = call_of(state, token)
    call, tool = place.call, tool_in(program, place.turn, place.call.name)
    if isinstance(result, ToolError):
        answer = ToolResult(call.id, call.name, error=result)
    else:
        most = DEFAULT_RESULT_BYTES if tool is None else tool.definition.max_result_bytes
        phase = token.phase
        whole: JsonObject = {"run_id": phase.child} if isinstance(phase, WaitingForSubworkflow) else {}
        answer = ToolResult(call.id, call.name, fitted(result, most, whole))
    edited = state.talk.edits.get((place.turn.number, place.move, place.position))
    taints = tainted or (tool is not None and tool.untrusted and _is_from_tool(result))
    where = place.turn.number, place.move, place.position
    done: d.Decision = d.RouteToken(token.id, token.node, "completed")
    if isinstance(result, ToolError):
        done = failed_token(token, result.code)
    kept = CallResult(answer, edited)
    if where in place.turn.background:
        return [done, d.KeepAsync(*where, kept, taints)]
    return [done, d.AnswerCall(*where, kept, taints)]


def _is_from_tool(result: Json | ToolError) -> bool:
    """Whether a result has something in it that the tool said: also the message of its failure."""
    return not isinstance(result, ToolError) or result.code in ("EXECUTION_FAILED", "AGENT_DECLINED")


def failed_call(failure: TaskFailed, *, once: bool = False) -> ToolError:
    """The error result of a failed task, run or turn. `once`: nobody knows how far a call that timed out came."""
    match failure.type:
        case "timed_out" if once:
            return tool_error("OUTCOME_UNKNOWN", f"{failure.message}; find out what came of it")
        case "timed_out":
            return tool_error("TIMEOUT", failure.message, True)
        case "cancelled":
            return tool_error("CANCELLED", failure.message)
        case "input_invalid":
            return tool_error("INVALID_INPUT", failure.message, True)
        case "agent_declined":
            return tool_error("AGENT_DECLINED", failure.message)
        case "worker_lost" | "executor_error" | "broken_invariant":
            return tool_error("INTERNAL_ERROR", failure.message, failure.transient)
        case _:
            return tool_error("EXECUTION_FAILED", f"{failure.type}: {failure.message}", failure.transient)


def is_once(program: Program, state: RunState, token: Token) -> bool:
    """Whether a token is for a call that must not be made a second time."""
    if not token.node.startswith("tool:"):
        return False
    place = call_of(state, token)
    tool = tool_in(program, place.turn, place.call.name)
    return tool is not None and tool.definition.once


def plan_unknown(program: Program, state: RunState, token: Token) -> list[d.Decision]:
    """The worker of a call that must not be made twice was lost: nobody knows what came of it."""
    message = "the worker was lost during this call, which must not be made twice: find out what came of it"
    return answer_call(program, state, token, tool_error("OUTCOME_UNKNOWN", message))
