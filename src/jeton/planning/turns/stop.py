"""The end of a turn: everything under way in it ends, open calls get a result, and the caller is told."""

from msgspec.structs import replace

from jeton.model import decision as d
from jeton.model.chat import ToolError, ToolResult
from jeton.model.failure import RunError
from jeton.model.json import Json
from jeton.model.state.ranges import to_ranges
from jeton.model.state.run import RunState, Token
from jeton.model.state.talk import CallResult, Move, Turn, TurnError, TurnStatus
from jeton.model.transcript import said_text
from jeton.planning.tokens.cancel import end_tokens
from jeton.planning.turns.ask import notes_of
from jeton.planning.turns.places import tokens_of


def end_turn(
    state: RunState,
    turn: Turn,
    now: int,
    status: TurnStatus,
    error: TurnError | None = None,
    after: Token | None = None,
    said: Move | None = None,
) -> list[d.Decision]:
    """End a turn: tasks are withdrawn, runs, agents and gates cancelled, and each open call has a result.

    What was said to it stays in the history, also if no answer came. `after`: a token of it that has just ended.
    `said`: an answer that ends the turn; without one, what the model was asked last has none."""
    left = [token.id for token in tokens_of(state, turn.number) if after is None or token.id != after.id]
    reason = status if error is None else error.message
    text, data = (said.text, said.data) if said is not None and said.text else last_reply(state, turn)
    return [
        *end_tokens(state, left, "cancelled", reason),
        *_cancelled_calls(state, turn, reason),
        *_last_move(state, turn, reason, said),
        d.EndTurn(turn.number, now, status, error, text, data),
    ]


def failed_token(token: Token, why: str) -> d.EndTokens:
    """End the token of a call that failed. A worker that may still be at it is stopped."""
    return d.EndTokens(to_ranges((token.id,)), "failed", why)


def close_conversation(state: RunState, now: int, error: RunError, *, untold: bool) -> list[d.Decision]:
    """End a conversation with all its turns. Their callers are told."""
    why = TurnError("cancelled", error.message)
    stopped = [each for turn in state.talk.active() for each in end_turn(state, turn, now, "cancelled", why)]
    return [*stopped, d.EndRun(now, "cancelled", error=error, untold=untold)]


def _cancelled_calls(state: RunState, turn: Turn, reason: str) -> list[d.Decision]:
    """An error result for each call that has none, so that no history has a call without a result."""
    decisions: list[d.Decision] = [
        d.KeepAsync(*place, CallResult(_cancelled(state, place, reason))) for place in turn.background
    ]
    if not turn.moves:
        return decisions
    move = turn.moves - 1
    places = [(turn.number, move, index) for index in range(len(state.talk.calls_of(turn.number, move)))]
    return decisions + [
        d.AnswerCall(*place, CallResult(_cancelled(state, place, reason)))
        for place in places
        if place not in state.talk.results
    ]


def _cancelled(state: RunState, place: tuple[int, int, int], reason: str) -> ToolResult:
    turn, move, index = place
    call = state.talk.calls_of(turn, move)[index]
    return ToolResult(call.id, call.name, error=ToolError("CANCELLED", reason))


def _last_move(state: RunState, turn: Turn, reason: str, said: Move | None) -> list[d.Decision]:
    """Keep what the model was asked, or would have been told next, and the answer that ended the turn, if any."""
    came = [state.talk.came[place].result for place in turn.came]
    notes, _ = notes_of([*came, *(_cancelled(state, place, reason) for place in turn.background)])
    before = (*notes, *(said_text(said) for said in turn.steered))
    if said is None and not before and not turn.asked:
        return []
    move = said or Move(by=turn.agent, interrupted=True)
    return [d.AddMove(turn.number, turn.moves, replace(move, before=before))]


def last_reply(state: RunState, turn: Turn) -> tuple[str, Json]:
    """The last text that the turn said, and the structured output that came with it."""
    for number in range(turn.moves - 1, -1, -1):
        move = state.talk.moves[turn.number, number]
        if move.text:
            return move.text, move.data
    return "", None
