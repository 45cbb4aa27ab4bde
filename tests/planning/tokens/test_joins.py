"""Which fan-ins a group leads to, seen from where it stands."""

import pytest

from jeton.model.ids import GroupId
from jeton.planning.tokens.joins import joins_of, tolerates_lost_branch
from tests.planning.given import Given, given, started, workflow

ONE = workflow("""
nodes: {s: {}, w: {task: work}, v: {}, end: {}}
transitions:
- {from: s, to: w, spawn_count: 2, sibling_group: g}
- {from: w, to: v}
- {from: v, to: end, synchronization: {sibling_group: g}}
""")
TWO = workflow("""
nodes: {s: {}, w: {task: work}, v: {}, near: {}, far: {}}
transitions:
- {from: s, to: w, spawn_count: 2}
- {from: w, to: v, condition: input.a}
- {from: w, to: near, condition: input.b, synchronization: {}}
- {from: v, to: far, synchronization: {}}
""")
NONE = workflow("{nodes: {s: {}, w: {task: work}}, transitions: [{from: s, to: w, spawn_count: 2}]}")
NESTED = workflow("""
nodes: {s: {}, o: {}, w: {task: work}, m: {}, end: {}}
transitions:
- {from: s, to: o, spawn_count: 1, sibling_group: out}
- {from: o, to: w, spawn_count: 1, sibling_group: in}
- {from: w, to: m, synchronization: {sibling_group: in}}
- {from: m, to: end, synchronization: {sibling_group: out, on_branch_failure: continue}}
""")
OUTWARDS = workflow("""
nodes: {s: {}, o: {}, w: {task: work}, end: {}}
transitions:
- {from: s, to: o, spawn_count: 1, sibling_group: out}
- {from: o, to: w, spawn_count: 1, sibling_group: in}
- {from: w, to: end, synchronization: {sibling_group: out}}
""")
THROUGH = workflow("""
nodes: {s: {}, w: {task: work}, m: {}, end: {}}
transitions:
- {from: s, to: w, condition: "!input.other", spawn_count: 1, sibling_group: g}
- {from: s, to: w, condition: input.other, spawn_count: 1, sibling_group: other}
- {from: w, to: m, synchronization: {sibling_group: other}}
- {from: m, to: end, synchronization: {sibling_group: g}}
""")
CIRCLE = workflow("""
nodes: {s: {}, w: {task: work}, end: {}}
transitions:
- {from: s, to: w, spawn_count: 1, sibling_group: g}
- {from: w, to: w, condition: result.again}
- {from: w, to: end, condition: '!result.again', synchronization: {sibling_group: g}}
""")
SPLIT = workflow("""
nodes: {s: {}, w: {task: work}, x: {}, y: {}, m: {}, end: {}}
transitions:
- {from: s, to: w, spawn_count: 1, sibling_group: g}
- {from: w, to: x}
- {from: w, to: y}
- {from: x, to: m, synchronization: {}}
- {from: y, to: m, synchronization: {}}
- {from: m, to: end, synchronization: {}}
""")
HANDLED = workflow("""
nodes: {s: {}, w: {task: work}, end: {}}
transitions:
- {from: s, to: w, spawn_count: 1, sibling_group: g}
- {from: w, to: end, condition: has(state._last_error), synchronization: {}}
- {from: w, to: end, condition: '!has(state._last_error)', synchronization: {}}
""")
UNNAMED = workflow("""
nodes: {s: {}, o: {}, w: {task: work}, m: {}, end: {}}
transitions:
- {from: s, to: o, spawn_count: 1}
- {from: o, to: w, spawn_count: 1}
- {from: w, to: m, synchronization: {}}
- {from: m, to: end, synchronization: {}}
""")
# groups: 0 top, 1 g, 2 a, 3 b, each inside the one before
DEEP = workflow("""
nodes: {s: {}, o: {}, p: {}, q: {}, w: {task: work}, m: {}, end: {}, last: {}}
transitions:
- {from: s, to: o, spawn_count: 1, sibling_group: top}
- {from: o, to: p, spawn_count: 1, sibling_group: g}
- {from: p, to: q, spawn_count: 1, sibling_group: a}
- {from: q, to: w, spawn_count: 1, sibling_group: b}
- {from: w, to: m, synchronization: {sibling_group: a}}
- {from: m, to: end, synchronization: {}}
- {from: end, to: last, synchronization: {}}
""")
REPAIRED = workflow("""
nodes: {s: {}, w: {task: work}, fix: {}, end: {}, fixed: {}}
transitions:
- {from: s, to: w, spawn_count: 1, sibling_group: g}
- {from: w, to: end, synchronization: {}}
- {from: w, to: fix, condition: has(state._last_error)}
- {from: fix, to: fixed, synchronization: {}}
""")
BESIDE = workflow("""
nodes: {s: {}, w: {task: work}, x: {}, y: {}, end: {}}
transitions:
- {from: s, to: w, spawn_count: 1, sibling_group: g}
- {from: w, to: x}
- {from: w, to: y, sibling_group: h}
- {from: x, to: end, synchronization: {}}
""")
FIRST = workflow("""
nodes: {s: {}, w: {task: work, fan_out: first_match}, x: {}, y: {}, end: {}}
transitions:
- {from: s, to: w, spawn_count: 1, sibling_group: g}
- {from: w, to: x}
- {from: w, to: y}
- {from: x, to: end, synchronization: {}}
""")
MAYBE = workflow("""
nodes: {s: {}, w: {task: work}, x: {}, y: {}, end: {}}
transitions:
- {from: s, to: w, spawn_count: 1, sibling_group: g}
- {from: w, to: x}
- {from: w, to: y, condition: result.more}
- {from: x, to: end, synchronization: {}}
""")


@pytest.mark.parametrize(
    ("run", "group", "then"),
    [
        pytest.param(given(ONE, started()), 0, ["end"], id="one that a branch leads to, however many nodes long it is"),
        pytest.param(given(TWO, started()), 0, ["near", "far"], id="the nearest first, whatever conditions will say"),
        pytest.param(given(NONE, started()), 0, [], id="none where nobody joins"),
        pytest.param(given(NESTED, started()), 1, ["m"], id="an inner group its own"),
        pytest.param(given(NESTED, started()), 0, ["end"], id="and the outer one, behind it, its own"),
        pytest.param(given(OUTWARDS, started()), 1, [], id="one that belongs to the group outside is not the inner's"),
        pytest.param(given(OUTWARDS, started()), 0, ["end"], id="but that group's"),
        pytest.param(
            given(THROUGH, started({"other": False})),
            0,
            ["end"],
            id="one of a group the branch is not in is passed through",
        ),
        pytest.param(given(CIRCLE, started()), 0, ["end"], id="a loop ends the walk"),
        pytest.param(given(SPLIT, started()), 0, ["end"], id="a split inside the branch joins its own parts first"),
        pytest.param(given(UNNAMED, started()), 1, ["m"], id="the walk ends where the group is joined"),
        pytest.param(given(UNNAMED, started()), 0, ["end"], id="an unnamed join is that of the innermost group"),
        pytest.param(given(DEEP, started()), 3, [], id="a group that is left outwards has none"),
        pytest.param(given(DEEP, started()), 2, ["m"], id="the group that a join names has it"),
        pytest.param(given(DEEP, started()), 1, ["end"], id="behind it all inner groups are left"),
        pytest.param(given(DEEP, started()), 0, ["last"], id="and behind that one the next"),
        pytest.param(given(REPAIRED, started()), 0, ["end", "fixed"], id="one that only a handled failure leads to"),
        pytest.param(
            given(BESIDE, started()), 0, ["end"], id="beside a named group a plain transition makes no branch"
        ),
        pytest.param(given(FIRST, started()), 0, ["end"], id="nor where only the first match is followed"),
        pytest.param(given(MAYBE, started()), 0, ["end"], id="a split that may not happen is no split"),
        pytest.param(given(HANDLED, started()), 0, ["end"], id="a failure and a success never split with each other"),
    ],
)
def test_the_fan_ins_of_a_group(run: Given, group: int, then: list[str]) -> None:
    state = run.state()
    found = joins_of(run.program, state, state.groups[GroupId(group)])
    assert [join.node for join in found] == then
    assert joins_of(run.program, state, state.groups[GroupId(group)]) is found, "it is worked out once"


@pytest.mark.parametrize(
    ("run", "group", "then"),
    [
        pytest.param(given(NESTED, started()), 0, True, id="its join says so"),
        pytest.param(given(NESTED, started()), 1, False, id="an inner join does not"),
        pytest.param(given(NONE, started()), 0, False, id="without a join nobody does"),
    ],
)
def test_whether_a_failed_branch_is_lost_instead_of_failing_the_run(run: Given, group: int, then: bool) -> None:
    state = run.state()
    assert tolerates_lost_branch(run.program, state, state.groups[GroupId(group)]) is then
