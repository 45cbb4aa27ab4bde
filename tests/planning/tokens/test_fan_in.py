"""What a settled slot means: an arrival, a fan-in that opens or no longer can, a further slot, the end of a group."""

import hypothesis
import pytest
from hypothesis import strategies as st

from jeton.model import decision as d
from jeton.model.definition.workflow import MOfN, Strategy
from jeton.model.failure import RunError
from jeton.model.ids import GroupId, SlotId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.fan_in import (
    FanInVerdict,
    fan_in_verdict,
    plan_group,
    plan_slot,
)
from tests.planning.given import Given, before, done, failed, given, slot, started, workflow


@pytest.mark.parametrize(
    ("strategy", "arrived", "live", "then"),
    [
        pytest.param("all", 2, 1, "waits", id="all waits while a slot is live"),
        pytest.param("all", 2, 0, "opens", id="all opens when none is"),
        pytest.param("all", 0, 0, "opens", id="all opens empty when every slot is lost"),
        pytest.param("any", 0, 2, "waits", id="any waits for the first"),
        pytest.param("any", 1, 2, "opens", id="any opens with the first"),
        pytest.param("any", 0, 0, "fails", id="any fails when every slot is lost"),
        pytest.param(MOfN(2), 1, 1, "waits", id="a quorum waits while it can be reached"),
        pytest.param(MOfN(2), 2, 5, "opens", id="a quorum opens with the last it needs"),
        pytest.param(MOfN(3), 1, 1, "fails", id="a quorum fails as soon as too few can still arrive"),
    ],
)
def test_a_fan_in(strategy: Strategy, arrived: int, live: int, then: FanInVerdict) -> None:
    assert fan_in_verdict(strategy, arrived, live) == then


@hypothesis.given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(1, 12))
def test_a_quorum_is_decided_exactly_once_in_every_order(arrives: list[bool], needed: int) -> None:
    arrived, live, decided = 0, len(arrives), 0
    for arrives_now in arrives:
        arrived, live = arrived + arrives_now, live - 1
        if fan_in_verdict(MOfN(needed), arrived, live) != "waits":
            decided += 1
            break
    assert decided == 1
    assert (fan_in_verdict(MOfN(needed), arrived, live) == "opens") == (arrived >= needed)


NOW = 9
GROUP = GroupId(0)


def branches(sync: str, limits: str = "{}") -> Program:
    """A branch for each item, one task long, into a join."""
    return workflow(f"""
nodes: {{s: {{}}, w: {{task: work}}, end: {{task: work}}}}
transitions:
- {{from: s, to: w, foreach: {{collection: input.items}}}}
- {{from: w, to: end, synchronization: {sync}}}
limits: {limits}
""")


MERGED = "merge: {target: state.out, source: _branch.output.v, strategy: collect}"
ALL = branches("{on_branch_failure: continue, " + MERGED + "}")
ANY = branches("{strategy: any, on_branch_failure: continue, " + MERGED + "}")
QUORUM = branches("{strategy: {m_of_n: 2}, on_branch_failure: continue, " + MERGED + "}")
PLAIN = branches("{}")
TIMED = branches("{timeout_ms: 30, on_timeout: proceed_with_available, " + MERGED + "}")
TIMED_ONLY = branches("{timeout_ms: 30}")
ABANDON = branches("{strategy: any, on_early_complete: abandon}")
OBJECTS = branches("{merge: {target: state.out, strategy: merge_object, source: _branch.output.v}}")
NO_JOIN = workflow(
    "{nodes: {s: {}, w: {task: work}}, transitions: [{from: s, to: w, foreach: {collection: input.items}}]}"
)
NESTED = workflow("""
nodes: {s: {}, o: {}, w: {task: work, output_mapping: {state.v: result.v}}, near: {task: work}, far: {task: work}}
transitions:
- {from: s, to: o, spawn_count: 2, sibling_group: out}
- {from: o, to: w, spawn_count: 2, sibling_group: in}
- {from: w, to: near, condition: result.v > 0, synchronization: {strategy: any, sibling_group: in}}
- {from: w, to: far, priority: 2, synchronization: {sibling_group: out, on_branch_failure: continue}}
- {from: near, to: far, synchronization: {sibling_group: out, on_branch_failure: continue}}
""")
THREE: JsonObject = {"items": ["x", "y", "z"]}
TWO: JsonObject = {"items": ["x", "y"]}


@pytest.mark.parametrize(
    ("run", "asked", "then"),
    [
        pytest.param(
            before(d.SettleSlot, ALL, started(THREE), done(1, {"v": 7})),
            slot(0, 0),
            [d.SettleSlot(slot(0, 0), NOW, "end", 1, value=7)],
            id="a branch whose token reached the fan-in has arrived, with what it brings",
        ),
        pytest.param(
            before(d.SettleSlot, ALL, started(THREE), done(1, {})),
            slot(0, 0),
            [d.SettleSlot(slot(0, 0), NOW, "end", 1)],
            id="what it never wrote it does not bring",
        ),
        pytest.param(
            before(d.SettleSlot, PLAIN, started(THREE), done(1, {"v": 7})),
            slot(0, 0),
            [d.SettleSlot(slot(0, 0), NOW, "end", 1)],
            id="where nothing is merged it brings nothing",
        ),
        pytest.param(
            before(d.SettleSlot, TIMED, started(THREE), done(1, {"v": 7})),
            slot(0, 0),
            [d.SettleSlot(slot(0, 0), NOW, "end", 1, NOW + 30, 7)],
            id="the fan-in's clock begins with the first arrival",
        ),
        pytest.param(
            before(d.SettleSlot, TIMED_ONLY, started(THREE), done(1, {"v": 7})),
            slot(0, 0),
            [d.SettleSlot(slot(0, 0), NOW, "end", 1, NOW + 30)],
            id="also where nothing is merged",
        ),
        pytest.param(
            before(d.SettleSlot, TIMED, started(THREE), done(1, {"v": 7}), done(2, {"v": 8})),
            slot(0, 1),
            [d.SettleSlot(slot(0, 1), NOW, "end", 1, value=8)],
            id="and not again with the second",
        ),
        pytest.param(
            before(d.SettleSlot, NO_JOIN, started(THREE), done(1)),
            slot(0, 0),
            [d.SettleSlot(slot(0, 0), NOW)],
            id="a branch that ended elsewhere is lost",
        ),
        pytest.param(
            before(d.SettleSlot, NESTED, started(), done(3, {"v": 0})),
            slot(1, 0),
            [d.SettleSlot(slot(1, 0), NOW, escaped={"v": 0})],
            id="one that leaves its group outwards takes its output along",
        ),
        pytest.param(given(ALL, started(THREE)), slot(0, 0), [], id="a branch in which something is under way is not"),
        pytest.param(given(ALL, started(THREE), done(1)), slot(0, 0), [], id="a branch settles once"),
    ],
)
def test_a_branch_in_which_nothing_moves(run: Given, asked: SlotId, then: list[d.Decision]) -> None:
    assert plan_slot(run.program, run.state(), asked, NOW) == then


def merged(value: Json) -> d.MergeBranches:
    return d.MergeBranches(GROUP, "end", "state.out", value)


def onward(token: int) -> d.CreateToken:
    return d.CreateToken(TokenId(token), "end", "root", TokenId(0))


def lost(kind: str, message: str) -> d.EndRun:
    return d.EndRun(NOW, "failed", error=RunError(kind, message, "end"))


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(given(ALL, started(THREE), done(1), done(2)), [], id="all waits for the last branch"),
        pytest.param(
            before(d.OpenFanIn, ALL, started(THREE), done(3, {"v": 3}), done(1, {"v": 1}), done(2, {})),
            [d.OpenFanIn(GROUP, "end", ((0, 2),), ((1, 3),)), merged([1, None, 3]), onward(4)],
            id="with it the outputs are merged in the order of the branches, and one token goes on",
        ),
        pytest.param(
            before(d.OpenFanIn, ALL, started(THREE), done(1, {"v": 1}), failed(2), done(3, {"v": 3})),
            [d.OpenFanIn(GROUP, "end", ((0, 0), (2, 2)), ((1, 1), (3, 3))), merged([1, 3]), onward(4)],
            id="a lost branch is not awaited",
        ),
        pytest.param(
            before(d.OpenFanIn, ALL, started(TWO), failed(1), failed(2)),
            [d.OpenFanIn(GROUP, "end"), merged([]), onward(3)],
            id="all opens with an empty merge when every branch is lost",
        ),
        pytest.param(
            before(d.OpenFanIn, PLAIN, started(TWO), done(1), done(2)),
            [d.OpenFanIn(GROUP, "end", ((0, 1),), ((1, 2),)), onward(3)],
            id="without a merge nothing is written",
        ),
        pytest.param(
            before(d.EndTokens, ANY, started(THREE), done(2, {"v": 2})),
            [
                d.EndTokens(((1, 1), (3, 3)), "cancelled", "the fan-in at 'end' opened"),
                d.OpenFanIn(GROUP, "end", ((1, 1),), ((2, 2),)),
                merged([2]),
                onward(4),
            ],
            id="any opens with the first, and the rest is cancelled",
        ),
        pytest.param(
            before(d.AbandonTokens, ABANDON, started(THREE), done(2)),
            [d.AbandonTokens(((1, 1), (3, 3))), d.OpenFanIn(GROUP, "end", ((1, 1),), ((2, 2),)), onward(4)],
            id="or left to finish",
        ),
        pytest.param(
            before(d.EndRun, ANY, started(TWO), failed(1), failed(2)),
            [lost("fan_in_lost", "every one of 2 branches was lost before 'end'")],
            id="any fails when every branch is lost",
        ),
        pytest.param(
            before(d.EndTokens, QUORUM, started(THREE), done(3, {"v": 3}), failed(1), failed(2)),
            [
                d.EndTokens(((3, 3),), "cancelled", "quorum_impossible"),
                lost("quorum_impossible", "fewer than 2 of 3 branches can still arrive at 'end'"),
            ],
            id="a quorum fails as soon as too few can still arrive",
        ),
        pytest.param(
            before(d.EndTokens, QUORUM, started(TWO), failed(1)),
            [
                d.EndTokens(((2, 2),), "cancelled", "quorum_impossible"),
                lost("quorum_impossible", "fewer than 2 of 2 branches can still arrive at 'end'"),
            ],
            id="also before any has arrived",
        ),
        pytest.param(
            before(d.OpenFanIn, QUORUM, started({"items": []})),
            [d.OpenFanIn(GROUP, "end"), merged([]), onward(1)],
            id="of an empty list the join opens, whatever its strategy",
        ),
        pytest.param(
            before(d.CloseGroup, NO_JOIN, started({"items": []})),
            [d.CloseGroup(GROUP)],
            id="where no join follows an empty list ends the path",
        ),
        pytest.param(
            before(d.CloseGroup, NO_JOIN, started(TWO), done(1), done(2)),
            [d.CloseGroup(GROUP)],
            id="a group that nobody joins is closed behind its last branch",
        ),
        pytest.param(
            before(d.CloseGroup, ALL, started({"items": ["x"]}), done(1)),
            [d.CloseGroup(GROUP)],
            id="and one that was joined behind its fan-in: that opens once",
        ),
        pytest.param(
            before(d.EndTokens, OBJECTS, started({"items": ["x"]}), done(1, {"v": 3})),
            [
                d.EndTokens(((1, 1),), "cancelled", "merge_failed"),
                lost("merge_failed", "branch 0 left a number where merge_object needs an object"),
            ],
            id="a value that the merge cannot take fails the fan-in",
        ),
    ],
)
def test_a_group_in_which_a_branch_settled(run: Given, then: list[d.Decision]) -> None:
    assert plan_group(run.program, run.state(), GROUP, NOW) == then


STRICT = workflow("""
nodes: {s: {}, w: {task: work}, end: {}}
transitions:
- {from: s, to: w, spawn_count: 1}
- {from: w, to: end, synchronization: {merge: {target: state.n, strategy: last_wins, source: _branch.output.v}}}
state_schema: {properties: {n: {type: integer}}}
""")
INSIDE = workflow("""
nodes: {s: {}, o: {}, w: {task: work}, m: {task: work}, end: {}}
transitions:
- {from: s, to: o, spawn_count: 2, sibling_group: out}
- {from: o, to: w, spawn_count: 2, sibling_group: in}
- {from: w, to: m, synchronization: {strategy: {m_of_n: 2}, sibling_group: in, merge: {target: state.n}}}
- {from: m, to: end, synchronization: {sibling_group: out, on_branch_failure: continue}}
state_schema: {properties: {n: {type: integer}}}
""")
LOOPING = workflow("""
nodes: {a: {}, w: {task: work}, end: {}}
transitions:
- {from: a, to: w, spawn_count: 1, loop_config: {max_iterations: 3}}
- {from: w, to: end, synchronization: {}}
- {from: end, to: a, loop_config: {max_iterations: 3}}
""")
NAPS = workflow("""
nodes: {s: {}, w: {task: work}, nap: {wait: {seconds: 9}}, gate: {gate: {title: t}}, end: {task: work}}
transitions:
- {from: s, to: w, sibling_group: g}
- {from: s, to: nap, sibling_group: g}
- {from: s, to: gate, sibling_group: g}
- {from: w, to: end, synchronization: {strategy: any, on_early_complete: abandon}}
- {from: nap, to: end, synchronization: {strategy: any, on_early_complete: abandon}}
- {from: gate, to: end, synchronization: {strategy: any, on_early_complete: abandon}}
""")


@pytest.mark.parametrize(
    ("run", "group", "then"),
    [
        pytest.param(
            before(d.EndTokens, STRICT, started(), done(1, {"v": "one"})),
            0,
            [
                d.EndTokens(((1, 1),), "cancelled", "state_invalid"),
                lost("state_invalid", 'state.n: "one" is not of type "integer"'),
            ],
            id="a merge that the state's schema refuses fails the fan-in",
        ),
        pytest.param(
            before(d.OpenFanIn, INSIDE, started(), done(3, {"v": 3}), done(4, {"v": 4})),
            1,
            [
                d.OpenFanIn(GroupId(1), "m", ((0, 1),), ((3, 4),)),
                d.MergeBranches(GroupId(1), "m", "state.n", [{"v": 3}, {"v": 4}], slot(0, 0)),
                d.CreateToken(TokenId(7), "m", "root.o.0", TokenId(1), slot(0, 0)),
            ],
            id="inside a branch it merges into that branch, which has no schema, and goes on there",
        ),
        pytest.param(
            before(d.OpenFanIn, LOOPING, started(), done(1)),
            0,
            [
                d.OpenFanIn(GROUP, "end", ((0, 0),), ((1, 1),)),
                d.CreateToken(TokenId(2), "end", "root", TokenId(0)),
            ],
            id="loops are counted as for the token that fanned out, not for its branches",
        ),
        pytest.param(
            before(d.OpenFanIn, LOOPING, started(), done(1), done(4)),
            1,
            [
                d.OpenFanIn(GroupId(1), "end", ((0, 0),), ((4, 4),)),
                d.CreateToken(TokenId(5), "end", "root", TokenId(3), loops={2: 1}),
            ],
            id="those that it had followed before stay counted",
        ),
        pytest.param(
            before(d.AbandonTokens, NAPS, started(), done(1)),
            0,
            [
                d.AbandonTokens(((2, 2),)),
                d.EndTokens(((3, 3),), "cancelled", "the fan-in at 'end' opened"),
                d.OpenFanIn(GROUP, "end", ((0, 0),), ((1, 1),)),
                onward(4),
            ],
            id="of what is abandoned only what finishes by itself is left; a gate is closed",
        ),
        pytest.param(
            before(d.EndTokens, INSIDE, started(), failed(3)),
            0,
            [],
            id="a group in which nothing has settled goes on",
        ),
    ],
)
def test_where_a_fan_in_leads(run: Given, group: int, then: list[d.Decision]) -> None:
    assert plan_group(run.program, run.state(), GroupId(group), NOW) == then


def test_a_group_that_is_over_is_nobodys() -> None:
    assert plan_group(ALL, given(ALL, started({"items": []})).state(), GROUP, NOW) == []


def test_a_fan_in_that_fails_inside_a_branch_loses_the_branch_if_that_may_be_lost() -> None:
    """The failed node itself is in a branch whose join does not go on, so the outer one is lost with it."""
    run = workflow("""
nodes: {s: {}, o: {}, w: {task: work}, m: {}, end: {}}
transitions:
- {from: s, to: o, spawn_count: 2, sibling_group: out}
- {from: o, to: w, spawn_count: 2, sibling_group: in}
- {from: w, to: m, synchronization: {strategy: {m_of_n: 2}, sibling_group: in, on_branch_failure: continue}}
- {from: m, to: end, synchronization: {sibling_group: out, on_branch_failure: continue}}
""")
    state = before(d.EndTokens, run, started(), failed(3)).state()
    assert plan_group(run, state, GroupId(1), NOW) == [
        d.EndTokens(((4, 4),), "cancelled", "quorum_impossible"),
        d.SettleSlot(slot(0, 0), NOW),
    ]


def test_with_a_branch_that_its_fan_in_loses_everything_else_in_it_is_cancelled() -> None:
    run = workflow("""
nodes: {s: {}, o: {}, w: {task: work}, z: {task: work}, m: {}, end: {}}
transitions:
- {from: s, to: o, spawn_count: 2, sibling_group: out}
- {from: o, to: w, spawn_count: 2, sibling_group: in}
- {from: o, to: z}
- {from: w, to: m, synchronization: {strategy: {m_of_n: 2}, sibling_group: in, on_branch_failure: continue}}
- {from: m, to: end, synchronization: {sibling_group: out, on_branch_failure: continue}}
- {from: z, to: end, synchronization: {sibling_group: out, on_branch_failure: continue}}
""")
    state = before(d.EndTokens, run, started(), failed(3)).state()
    assert plan_group(run, state, GroupId(1), NOW) == [
        d.EndTokens(((4, 4),), "cancelled", "quorum_impossible"),
        d.EndTokens(((5, 5),), "cancelled", "branch lost: quorum_impossible"),
        d.SettleSlot(slot(0, 0), NOW),
    ]
