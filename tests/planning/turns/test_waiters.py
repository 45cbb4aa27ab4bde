"""Conversations that wait for each other in a circle, which is noticed by passing on who waits."""

import pytest

from jeton.model import decision as d
from jeton.model.effect import SendMessage
from jeton.model.ids import RunId, TokenId
from jeton.model.message import StartRun, WaitersAdded
from jeton.model.state.talk import Caller, TurnError
from jeton.planning.turns.waiters import CIRCLE, plan_waiters, tell_those_ahead, waits_here
from tests.planning.given import RUN, given, started, workflow
from tests.planning.talking import BOB, NOW, Talk, call, chat, child_ends, says, stop, talk

OTHER = RunId("other")
ELSEWHERE = ((OTHER, TokenId(3)),)
ASKED = Caller(run=RunId("other.3"), token=TokenId(0), depth=2, waiting=ELSEWHERE)
COUNTING = talk(BOB, chat("one"), says("", call("count")))  # its call waits for a run
LATER = talk(BOB, chat("one"), says("On it.", call("slow")))


def the_call(told: Talk, node: str = "tool:count") -> tuple[RunId, TokenId]:
    """The call of a conversation by which it waits."""
    return RUN, next(token.id for token in told.state().tokens.values() if token.node == node)


def waiters(waiting: tuple[tuple[RunId, TokenId], ...], asked: Caller = ASKED) -> WaitersAdded:
    assert asked.run is not None
    assert asked.token is not None
    return WaitersAdded(NOW, waiting, asked.run, asked.token)


def sent(told: Talk) -> list[tuple[RunId, WaitersAdded]]:
    effects = [each for each in told.commit().effects if isinstance(each, SendMessage)]
    return [(each.run, each.message) for each in effects if isinstance(each.message, WaitersAdded)]


def test_a_turn_that_waits_for_a_call_waits_here_and_one_that_lingers_does_not() -> None:
    assert waits_here(COUNTING.state(), [the_call(COUNTING)])
    assert not waits_here(COUNTING.state(), ELSEWHERE)
    assert not waits_here(LATER.state(), [the_call(LATER, "tool:slow")])


def test_those_who_wait_for_a_queued_question_wait_for_whom_the_turn_ahead_waits_for() -> None:
    told = COUNTING.then(chat("and you?", caller=ASKED))
    _, token = the_call(told)
    assert told.made(d.AddWaiters) == [d.AddWaiters(NOW, ELSEWHERE, 2, (token,))]
    child = next(run for run, _ in sent(told))
    assert sent(told) == [(child, WaitersAdded(NOW, ELSEWHERE, RUN, token))]
    assert child.startswith(RUN)


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(COUNTING.then(chat("hi")), id="nobody waits for what a person says"),
        pytest.param(talk(BOB, chat("and you?", caller=ASKED)), id="the turn begins at once"),
        pytest.param(LATER.then(chat("and you?", caller=ASKED)), id="the turn before it lingers"),
    ],
)
def test_nobody_is_told_where_nothing_is_ahead(told: Talk) -> None:
    assert told.made(d.AddWaiters) == []
    assert sent(told) == []


def test_calls_that_are_made_later_know_who_waits() -> None:
    state = COUNTING.then(chat("and you?", caller=ASKED), child_ends("tool:count", {"n": 1})).state()
    assert tell_those_ahead(state, 2, (), NOW) == []
    again = COUNTING.then(chat("and you?", caller=ASKED), child_ends("tool:count", {}), says("", call("count")))
    effects = [each.message for each in again.commit().effects if isinstance(each, SendMessage)]
    (start,) = [each for each in effects if isinstance(each, StartRun)]
    assert start.parent is not None
    assert start.parent.waiting == (*ELSEWHERE, the_call(again))


def test_a_circle_fails_the_question_that_is_queued() -> None:
    told = COUNTING.then(chat("and you?", caller=ASKED))
    own = the_call(told)
    failed = told.then(waiters((own,)))
    (end,) = failed.made(d.EndTurn)
    assert (end.turn, end.status, end.error) == (2, "failed", TurnError("waits_for_itself", CIRCLE))
    assert [turn.phase for turn in failed.state().talk.turns.values()] == ["executing", "ended"]


def test_who_waits_is_passed_on_once() -> None:
    told = COUNTING.then(chat("and you?", caller=ASKED))
    more = ((OTHER, TokenId(3)), (RunId("third"), TokenId(1)))
    passed = told.then(waiters(more))
    assert passed.made(d.AddWaiters) == [d.AddWaiters(NOW, more[1:], 2, (the_call(told)[1],))]
    assert passed.then(waiters(more)).last() == []
    assert passed.state().talk.turns[2].caller.waiting == more


def test_whoever_a_turn_that_moves_waits_for_is_told() -> None:
    told = talk(BOB, chat("and you?", caller=ASKED), says("", call("count")))
    third = ((RunId("third"), TokenId(1)),)
    assert plan_waiters(told.state(), waiters(third)) == [d.AddWaiters(NOW, third, 1, (the_call(told)[1],))]


def test_a_turn_that_is_over_or_was_never_asked_for_is_none_of_it() -> None:
    assert plan_waiters(COUNTING.state(), waiters(ELSEWHERE)) == []
    stopped = COUNTING.then(chat("and you?", caller=ASKED), stop(2))
    assert plan_waiters(stopped.state(), waiters(((OTHER, TokenId(9)),))) == []


def test_a_run_that_nobody_called_has_nobody_who_waits() -> None:
    state = given(workflow("nodes: {s: {task: work}}"), started()).state()
    assert plan_waiters(state, waiters(ELSEWHERE)) == []
