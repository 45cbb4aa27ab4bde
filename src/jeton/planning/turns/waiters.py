"""Conversations that wait for each other in a circle, which is noticed by passing on who waits.

Whoever is asked knows which conversations wait for the answer, so one that asks back is refused at once. Two that ask
each other at the same moment do not know of each other. So a question that is queued behind a turn makes everybody who
waits for it wait for that turn too, and for whom the turn waits: these are told. If that comes back to a conversation
whose own turn is among those who wait, the turn that comes after it there can never go on, and fails.
"""

from collections.abc import Iterable

from jeton.model import decision as d
from jeton.model.ids import RunId, TokenId
from jeton.model.message import WaitersAdded
from jeton.model.state.phase import WaitingForAgent, WaitingForSubworkflow
from jeton.model.state.run import RunState, Token
from jeton.model.state.talk import Turn, TurnError, place_of
from jeton.planning.turns.places import tokens_of
from jeton.planning.turns.stop import end_turn

CIRCLE = "a turn of this conversation waits for whoever asks here, and would wait for ever"


def waits_here(state: RunState, waiting: Iterable[tuple[RunId, TokenId]]) -> bool:
    """Whether a turn of this conversation is among those who wait, and goes first.

    A turn that only async work waits for makes room for others, unless it was looped in by a turn that waits for it."""
    for run, call in waiting:
        token = state.tokens.get(call) if run == state.head.run else None
        turn = None if token is None else state.talk.turns.get(place_of(token.path)[0])
        if token is not None and turn is not None and _holds_up(turn, token):
            return True
    return False


def _holds_up(turn: Turn, token: Token) -> bool:
    """Whether a turn cannot go on before a call of it is answered."""
    return place_of(token.path) not in turn.background or turn.beside is not None


def tell_those_ahead(
    state: RunState, turn: int, waiting: tuple[tuple[RunId, TokenId], ...], now: int
) -> list[d.Decision]:
    """Note who waits for a turn whose time has not come, and tell the runs and agents that those ahead wait for."""
    calls = [
        call for each in state.talk.active() if each.moving for call in _calls(state, each) if _holds_up(each, call)
    ]
    return [d.AddWaiters(now, waiting, turn, tuple(call.id for call in calls))] if waiting else []


def _calls(state: RunState, turn: Turn) -> list[Token]:
    """The calls of a turn that wait for a run or another conversation, or for an agent of this one."""
    return [token for token in tokens_of(state, turn.number) if _is_waiting(token)]


def _is_waiting(token: Token) -> bool:
    return isinstance(token.phase, WaitingForAgent | WaitingForSubworkflow) and not token.abandoned


def plan_waiters(state: RunState, message: WaitersAdded) -> list[d.Decision]:
    """Take that further conversations wait: a circle fails the question, and otherwise those ahead are told."""
    if not state.has_talk:
        parent = state.head.parent
        new = _unknown(message, () if parent is None else parent.waiting)
        told = tuple(token.id for token in state.tokens.values() if _is_waiting(token))
        return [d.AddWaiters(message.at, new, None, told)] if new and parent is not None else []
    asked = (message.run, message.token)
    turn = next((each for each in state.talk.active() if (each.caller.run, each.caller.token) == asked), None)
    new = () if turn is None else _unknown(message, turn.caller.waiting)
    if turn is None or not new:
        return []
    if turn.moving or turn.beside is not None:
        told = tuple(token.id for token in _calls(state, turn))  # async ones too: the turn does not end before them
        return [d.AddWaiters(message.at, new, turn.number, told)]
    if waits_here(state, new):
        return end_turn(state, turn, message.at, "failed", TurnError("waits_for_itself", CIRCLE))
    return tell_those_ahead(state, turn.number, new, message.at)


def _unknown(message: WaitersAdded, known: tuple[tuple[RunId, TokenId], ...]) -> tuple[tuple[RunId, TokenId], ...]:
    return tuple(each for each in message.waiting if each not in known)
