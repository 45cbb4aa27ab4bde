"""A fan-in whose time is over, a list that is gone through a few at a time, and room for the token that goes on."""

import pytest

from jeton.model import decision as d
from jeton.model.failure import RunError
from jeton.model.ids import GroupId, TokenId
from jeton.model.json import JsonObject
from jeton.planning.tokens.fan_in import plan_fan_in_timeout, plan_group
from jeton.planning.tokens.routing import too_many_tokens
from tests.planning.given import Given, before, done, given, slot, started, workflow

NOW = 9
GROUP = GroupId(0)
THREE: JsonObject = {"items": ["x", "y", "z"]}
TIMED = workflow("""
nodes: {s: {}, w: {task: work}, end: {task: work}}
transitions:
- {from: s, to: w, foreach: {collection: input.items}}
- from: w
  to: end
  synchronization:
    timeout_ms: 30
    on_timeout: proceed_with_available
    on_early_complete: abandon
    merge: {target: state.out, source: _branch.output.v}
""")
TIMED_FAIL = workflow("""
nodes: {s: {}, w: {task: work}, end: {task: work}}
transitions:
- {from: s, to: w, foreach: {collection: input.items}}
- {from: w, to: end, synchronization: {timeout_ms: 30}}
""")


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            given(TIMED, started(THREE), done(2, {"v": 2})),
            [
                d.TimeOutFanIn(GROUP, "end"),
                d.EndTokens(((1, 1), (3, 3)), "timed_out", "the fan-in at 'end' opened"),
                d.OpenFanIn(GROUP, "end", ((1, 1),), ((2, 2),)),
                d.MergeBranches(GROUP, "end", "state.out", [2]),
                d.CreateToken(TokenId(4), "end", "root", TokenId(0)),
            ],
            id="it may open with the branches that arrived, and the others end timed out, abandoned or not",
        ),
        pytest.param(
            given(TIMED_FAIL, started(THREE), done(2)),
            [
                d.TimeOutFanIn(GROUP, "end"),
                d.EndTokens(((1, 3),), "timed_out", "fan_in_timed_out"),
                d.EndRun(
                    NOW,
                    "failed",
                    error=RunError("fan_in_timed_out", "1 of 3 branches were at 'end' 30 ms after the first", "end"),
                ),
            ],
            id="or fail, and all of them end timed out",
        ),
    ],
)
def test_a_fan_in_whose_time_is_over(run: Given, then: list[d.Decision]) -> None:
    assert plan_fan_in_timeout(run.program, run.state(), GROUP, "end", NOW) == then


BOUNDED = workflow("""
nodes: {s: {}, w: {task: work}, end: {task: work}}
transitions:
- {from: s, to: w, foreach: {collection: input.items, max_parallel: 2}}
- {from: w, to: end, synchronization: {}}
""")
BOUNDED_ALONE = workflow("""
nodes: {s: {}, w: {task: work}}
transitions: [{from: s, to: w, foreach: {collection: input.items, max_parallel: 2}}]
""")
BOUNDED_STRAIGHT = workflow("""
nodes: {s: {}, end: {task: work}}
transitions: [{from: s, to: end, foreach: {collection: input.items, max_parallel: 1}, synchronization: {}}]
""")
FIVE: JsonObject = {"items": [1, 2, 3, 4, 5]}


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            before(d.CreateToken, BOUNDED, started(FIVE), done(1)),
            [d.CreateToken(TokenId(3), "w", "root.w.2", TokenId(0), slot(0, 2))],
            id="under max_parallel a branch that settled makes room for the next",
        ),
        pytest.param(
            before(d.CreateToken, BOUNDED_ALONE, started(FIVE), done(1)),
            [d.CreateToken(TokenId(3), "w", "root.w.2", TokenId(0), slot(0, 2))],
            id="also where nobody joins them",
        ),
        pytest.param(given(BOUNDED, started(FIVE)), [], id="while there is no room none is made"),
        pytest.param(given(BOUNDED, started(FIVE), done(1), done(2), done(3), done(4)), [], id="nor behind the last"),
    ],
)
def test_a_list_that_is_gone_through_a_few_at_a_time(run: Given, then: list[d.Decision]) -> None:
    assert plan_group(run.program, run.state(), GROUP, NOW) == then


def test_a_branch_that_goes_straight_to_its_fan_in_arrives_as_soon_as_it_is_its_turn() -> None:
    journal = given(BOUNDED_STRAIGHT, started(FIVE)).journal()[0]
    parked = [each.token for each in journal if isinstance(each, d.ParkToken)]
    assert parked == [1, 2, 3, 4, 5]
    second = journal.index(d.ParkToken(TokenId(2), GROUP, "end", 0))
    assert journal[second - 1] == d.CreateToken(TokenId(2), "s", "root.end.1", TokenId(0), slot(0, 1))


BUSY = """
nodes: {s: {}, w: {task: work}, x: {wait: {signal: go}}, end: {task: work}}
transitions:
- {from: s, to: w, foreach: {collection: input.items}}
- {from: s, to: x, sibling_group: other}
- {from: w, to: end, synchronization: {}}
"""
FULL = workflow(BUSY + "limits: {max_tokens: 1}")
ROOM = workflow(BUSY + "limits: {max_tokens: 2}")
ONE_AT_A_TIME = workflow("""
nodes: {s: {}, w: {task: work}, end: {task: work}}
transitions:
- {from: s, to: w, foreach: {collection: input.items, max_parallel: 1}}
- {from: w, to: end, synchronization: {timeout_ms: 30, on_timeout: proceed_with_available}}
limits: {max_tokens: 1}
""")
CROWDED = workflow("""
nodes: {s: {}, x: {wait: {signal: go}}, v: {task: work}, w: {task: work}, y: {task: work}, end: {task: work}}
transitions:
- {from: s, to: x, sibling_group: other}
- {from: s, to: v, sibling_group: this}
- {from: v, to: w, foreach: {collection: input.items}, sibling_group: items}
- {from: v, to: y, sibling_group: more}
- {from: w, to: end, synchronization: {sibling_group: items}}
limits: {max_tokens: 2}
""")
NOBODY: JsonObject = {"items": []}
ONWARD = d.CreateToken(TokenId(2), "end", "root", TokenId(0))


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            before(d.OpenFanIn, ROOM, started(NOBODY)),
            [d.OpenFanIn(GROUP, "end"), ONWARD],
            id="as long as the limit allows one more token a fan-in opens",
        ),
        pytest.param(
            before(d.EndTokens, FULL, started(NOBODY)),
            [
                d.EndTokens(((1, 1),), "cancelled", "run failed: limit_exceeded"),
                d.EndRun(NOW, "failed", error=too_many_tokens(FULL, "end")),
            ],
            id="and where it does not the run fails",
        ),
    ],
)
def test_room_for_the_token_that_goes_on(run: Given, then: list[d.Decision]) -> None:
    assert plan_group(run.program, run.state(), GROUP, NOW) == then


def test_tokens_that_wait_take_room_too() -> None:
    state = before(d.EndTokens, CROWDED, started(NOBODY), done(2)).state()
    assert (state.head.busy, state.head.parked) == (1, 1)
    assert plan_group(CROWDED, state, GroupId(2), NOW) == [
        d.EndTokens(((1, 1), (3, 3)), "cancelled", "run failed: limit_exceeded"),
        d.EndRun(NOW, "failed", error=too_many_tokens(CROWDED, "end")),
    ]


def test_a_branch_that_ends_with_its_fan_in_makes_room_for_the_token_that_goes_on() -> None:
    state = given(ONE_AT_A_TIME, started({"items": [1, 2]}), done(1)).state()
    assert state.head.busy == 1, "the limit is reached"
    assert plan_fan_in_timeout(ONE_AT_A_TIME, state, GROUP, "end", NOW) == [
        d.TimeOutFanIn(GROUP, "end"),
        d.EndTokens(((2, 2),), "timed_out", "the fan-in at 'end' opened"),
        d.OpenFanIn(GROUP, "end", ((0, 0),), ((1, 1),)),
        d.CreateToken(TokenId(3), "end", "root", TokenId(0)),
    ]
