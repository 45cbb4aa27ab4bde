"""Who else stops when something stops."""

import pytest

from jeton.model import decision as d
from jeton.model.failure import RunError
from jeton.model.ids import GroupId, RunId, SlotId, TokenId
from jeton.model.json import JsonObject
from jeton.model.state.run import RunStatus
from jeton.planning.tokens.cancel import (
    alive_in_group,
    alive_in_run,
    alive_in_slot,
    arrived_at,
    end_run,
    end_tokens,
    live_slots,
    stop_children,
)
from tests.planning.given import Given, done, given, slot, started, token_at, workflow

NESTED = workflow("""
nodes: {s: {}, o: {}, w: {task: work}, m: {task: work}, end: {}}
transitions:
- {from: s, to: o, foreach: {collection: input.outer}, sibling_group: out}
- {from: o, to: w, foreach: {collection: input.inner}, sibling_group: in}
- {from: w, to: m, synchronization: {sibling_group: in}}
- {from: m, to: end, synchronization: {sibling_group: out}}
""")
LISTS: JsonObject = {"outer": [1, 2], "inner": ["a", "b"]}
# groups: 0 outside, 1 and 2 inside its slots; tokens: 3 and 4 in group 1, 5 and 6 in group 2
AT_WORK = given(NESTED, started(LISTS))
ONE_WAITS = given(NESTED, started(LISTS), done(3))
JOINED = given(NESTED, started(LISTS), done(3), done(4), done(5))
OUTSIDE_WAITS = given(NESTED, started(LISTS), done(3), done(4), done(7))

CALLS = workflow("{nodes: {s: {}, c: {workflow: child}}, transitions: [{from: s, to: c, spawn_count: 2}]}")
CALLING = given(CALLS, started())
SPLIT = workflow("""
nodes: {s: {}, a: {}, b: {task: work}, end: {}}
transitions:
- {from: s, to: a, sibling_group: g}
- {from: a, to: b}
- {from: a, to: end, synchronization: {sibling_group: g}}
- {from: b, to: end, synchronization: {sibling_group: g}}
""")
# a branch that split: one of its tokens is at the fan-in, one at work, and each in an inner slot of its own
HALF_THERE = given(SPLIT, started())


@pytest.mark.parametrize(
    ("run", "asked", "then"),
    [
        pytest.param(AT_WORK, slot(1, 0), [3], id="a branch's own token"),
        pytest.param(AT_WORK, slot(0, 1), [5, 6], id="those of the branches inside it"),
        pytest.param(ONE_WAITS, slot(0, 0), [4, 3], id="one that waits at an inner fan-in too"),
        pytest.param(JOINED, slot(0, 0), [7], id="the one that goes on behind an inner fan-in"),
        pytest.param(HALF_THERE, slot(0, 0), [3, 2], id="one that waits for its branch to be quiet too"),
    ],
)
def test_who_is_alive_in_a_branch(run: Given, asked: SlotId, then: list[int]) -> None:
    assert alive_in_slot(run.state(), asked) == then


@pytest.mark.parametrize(
    ("run", "asked", "then"),
    [
        pytest.param(AT_WORK, 0, [3, 4, 5, 6], id="those of all its branches, however deep"),
        pytest.param(ONE_WAITS, 1, [4, 3], id="and those at its fan-ins"),
        pytest.param(OUTSIDE_WAITS, 0, [5, 6, 7], id="of a branch that has arrived only who waits there"),
    ],
)
def test_who_is_alive_in_a_group(run: Given, asked: int, then: list[int]) -> None:
    assert alive_in_group(run.state(), GroupId(asked)) == then


@pytest.mark.parametrize(
    ("run", "asked", "then"),
    [
        pytest.param(AT_WORK, 1, [(1, 0), (1, 1)], id="all while nobody has arrived"),
        pytest.param(ONE_WAITS, 1, [(1, 1)], id="one that has arrived is not under way"),
        pytest.param(OUTSIDE_WAITS, 0, [(0, 1)], id="one inside which something is under way is"),
    ],
)
def test_which_branches_are_under_way(run: Given, asked: int, then: list[SlotId]) -> None:
    assert live_slots(run.state(), GroupId(asked)) == then


def test_who_waits_at_a_fan_in_comes_a_stretch_at_a_time_in_the_order_of_the_branches() -> None:
    many: JsonObject = {"outer": [1], "inner": [*range(40)]}
    state = given(NESTED, started(many), done(2 + 35), done(2 + 1), done(2 + 0)).state()
    found = list(arrived_at(state, GroupId(1), "m"))
    assert [each.slots for each in found] == [((0, 1),), ((35, 35),)]
    assert list(arrived_at(state, GroupId(1), "end")) == []


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(AT_WORK, {3, 4, 5, 6}, id="those at work"),
        pytest.param(ONE_WAITS, {3, 4, 5, 6}, id="those at a fan-in"),
        pytest.param(HALF_THERE, {2, 3}, id="those who wait for their own branch to be quiet"),
    ],
)
def test_who_is_alive_in_a_run(run: Given, then: set[int]) -> None:
    assert alive_in_run(run.state()) == then


@pytest.mark.parametrize(
    ("run", "tokens", "then"),
    [
        pytest.param(AT_WORK, (), [], id="nobody to end is no decision"),
        pytest.param(AT_WORK, (5, 3, 4), [d.EndTokens(((3, 5),), "cancelled", "why")], id="together, as ranges"),
        pytest.param(ONE_WAITS, (3,), [d.EndTokens(((3, 3),), "cancelled", "why")], id="also one at a fan-in"),
        pytest.param(
            CALLING,
            (2, 1),
            [
                d.StopChild(TokenId(1), RunId("r.1"), "why"),
                d.StopChild(TokenId(2), RunId("r.2"), "why"),
                d.EndTokens(((1, 2),), "cancelled", "why"),
            ],
            id="the runs they called are stopped first, in order",
        ),
    ],
)
def test_tokens_that_end_without_going_on(run: Given, tokens: tuple[int, ...], then: list[d.Decision]) -> None:
    assert end_tokens(run.state(), [TokenId(each) for each in tokens], "cancelled", "why") == then


def test_only_a_token_that_called_a_run_has_one_to_stop() -> None:
    assert stop_children(token_at(CALLING.state(), "c"), "why") == [d.StopChild(TokenId(1), RunId("r.1"), "why")]
    assert stop_children(token_at(AT_WORK.state(), "w"), "why") == []


BOOM = RunError("boom", "it broke")
STOPPED = RunError("cancelled", "enough")


@pytest.mark.parametrize(
    ("status", "error", "reason"),
    [
        pytest.param("failed", BOOM, "run failed: boom", id="for a failure, its type is the reason"),
        pytest.param("cancelled", STOPPED, "run cancelled: enough", id="for a cancellation, what was said"),
        pytest.param("timed_out", None, "run timed_out: timed_out", id="without an error, the status"),
    ],
)
def test_everybody_ends_with_the_run(status: RunStatus, error: RunError | None, reason: str) -> None:
    assert end_run(ONE_WAITS.state(), 9, status, error) == [
        d.EndTokens(((3, 6),), "cancelled", reason),
        d.EndRun(9, status, error=error),
    ]


def test_the_failing_token_ends_first_and_not_with_the_others() -> None:
    state = AT_WORK.state()
    assert end_run(state, 9, "failed", BOOM, failing=state.tokens[TokenId(4)], ends="timed_out") == [
        d.RouteToken(TokenId(4), "w", "timed_out"),
        d.EndTokens(((3, 3), (5, 6)), "cancelled", "run failed: boom"),
        d.EndRun(9, "failed", error=BOOM),
    ]


def test_the_failing_token_ends_failed_unless_it_is_said_otherwise() -> None:
    state = AT_WORK.state()
    assert end_run(state, 9, "failed", BOOM, failing=state.tokens[TokenId(4)])[0] == d.RouteToken(
        TokenId(4), "w", "failed"
    )


def test_those_who_ended_before_are_not_ended_again() -> None:
    ended = {TokenId(3), TokenId(4)}
    assert end_run(AT_WORK.state(), 9, "failed", BOOM, ended=ended, rest="timed_out", untold=True) == [
        d.EndTokens(((5, 6),), "timed_out", "run failed: boom"),
        d.EndRun(9, "failed", error=BOOM, untold=True),
    ]
