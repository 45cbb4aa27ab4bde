"""What follows from a model's answer: a move with its tool calls, a reply, another question, or the end of the turn."""

import msgspec

from jeton.model import decision as d
from jeton.model.chat import CalledTool, ModelAnswer, ModelFailed, ModelReply, ToolCall, ToolError, ToolResult
from jeton.model.json import Json
from jeton.model.state.run import RunState, Token
from jeton.model.state.talk import CallResult, Move, Turn, TurnError
from jeton.planning.program.workflow import Program
from jeton.planning.turns.ask import plan_ask
from jeton.planning.turns.budget import settle_day, spent
from jeton.planning.turns.places import agent_in, turn_of
from jeton.planning.turns.stop import end_turn
from jeton.planning.turns.tools import call_problem
from jeton.planning.turns.window import plan_too_long

CUT = "the answer was cut off here, so this call was not made; make it again, with less text"


def plan_reply(program: Program, state: RunState, token: Token, result: Json, now: int) -> list[d.Decision]:
    """Plan what the reply of a model call changes. A reply that cannot be read fails the turn."""
    turn = turn_of(state, token)
    done: list[d.Decision] = [d.RouteToken(token.id, token.node, "completed")]
    try:
        reply: ModelReply = msgspec.convert(result, ModelReply)
    except msgspec.ValidationError as problem:
        error = TurnError("bad_result", f"the model's answer has another form: {problem}")
        return [*done, *end_turn(state, turn, now, "failed", error, token)]
    done += [*spent(program, turn, reply), *settle_day(turn, now)]
    if isinstance(reply, ModelFailed):
        return [*done, *_plan_failed(program, state, turn, token, reply, now)]
    if reply.finish == "refused":
        return [*done, *_plan_refused(state, turn, token, reply, now)]
    if not reply.text.strip() and not reply.calls and not turn.last:
        return [*done, *_plan_empty(program, state, turn, token, reply, now)]
    if turn.last:
        return [*done, *_plan_last(program, state, turn, token, reply, now)]
    return [*done, *_plan_move(program, state, turn, reply)]


def _plan_failed(
    program: Program, state: RunState, turn: Turn, token: Token, reply: ModelFailed, now: int
) -> list[d.Decision]:
    used: list[d.Decision] = [d.UseScript(turn.agent, reply.used)] if reply.used else []
    if reply.type == "context_too_long" and not turn.compacted:
        shorter = plan_too_long(program, state, turn)
        if shorter is not None:
            return [*used, *shorter]
    error = TurnError(reply.type, reply.message)
    return [*used, *end_turn(state, turn, now, "failed", error, token)]


def _plan_refused(state: RunState, turn: Turn, token: Token, reply: ModelAnswer, now: int) -> list[d.Decision]:
    """Fail a turn whose model refused. What it said of it is the reply; calls beside it are not made."""
    used: list[d.Decision] = [d.UseScript(turn.agent, reply.used)] if reply.used else []
    error = TurnError("agent_declined", reply.text.strip() or "the model refused to answer")
    said = _move(turn, reply, ()) if reply.text.strip() else None
    return [*used, *end_turn(state, turn, now, "failed", error, token, said)]


def _plan_empty(
    program: Program, state: RunState, turn: Turn, token: Token, reply: ModelAnswer, now: int
) -> list[d.Decision]:
    """Ask once more; a second answer without text and calls fails the turn."""
    used: list[d.Decision] = [d.UseScript(turn.agent, reply.used)] if reply.used else []
    if turn.nudged:
        error = TurnError("empty_answer", "the model answered twice without text and without calling a tool")
        return [*used, *end_turn(state, turn, now, "failed", error, token)]
    return [*used, *plan_ask(program, state, turn, now, nudge=True)]


def _plan_last(
    program: Program, state: RunState, turn: Turn, token: Token, reply: ModelAnswer, now: int
) -> list[d.Decision]:
    """Take the text of the last answer. Calls that it makes all the same are not run."""
    if reply.text.strip():
        return [d.AddMove(turn.number, turn.moves, _move(turn, reply, ()), reply.used)]
    limit = agent_in(program, turn).persona.max_moves_per_turn
    error = TurnError("move_limit", f"the model made {limit} moves and then gave no answer")
    used: list[d.Decision] = [d.UseScript(turn.agent, reply.used)] if reply.used else []
    return [*used, *end_turn(state, turn, now, "failed", error, token)]


def _plan_move(program: Program, state: RunState, turn: Turn, reply: ModelAnswer) -> list[d.Decision]:
    calls = tuple(_with_id(turn, index, call) for index, call in enumerate(reply.calls))
    decisions: list[d.Decision] = [d.AddMove(turn.number, turn.moves, _move(turn, reply, calls), reply.used)]
    if reply.finish == "length":
        decisions.append(d.FlagTurn(turn.number, "truncated"))
    for index, call in enumerate(calls):
        cut = reply.finish == "length" and (call.raw is not None or index == len(calls) - 1)
        problem = ToolError("INVALID_INPUT", CUT, True) if cut else call_problem(program, state, turn, call)
        if problem is not None:
            result = CallResult(ToolResult(call.id, call.name, error=problem))
            decisions.append(d.AnswerCall(turn.number, turn.moves, index, result))
    return decisions


def _with_id(turn: Turn, index: int, call: CalledTool) -> ToolCall:
    """The call with an id that no other call of the conversation has, and that a second planning gives again."""
    return ToolCall(f"call_{turn.number}_{turn.moves}_{index}", call.name, call.input, call.raw)


def _move(turn: Turn, reply: ModelAnswer, calls: tuple[ToolCall, ...]) -> Move:
    return Move(
        text=reply.text,
        calls=calls,
        profile=reply.profile,
        model=reply.model,
        usage=reply.usage,
        sealed=reply.sealed,
        by=turn.agent,
        data=reply.data,
    )
