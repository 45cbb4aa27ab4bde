"""What comes of the transitions that a token follows: a move, branches, or an arrival at a fan-in."""

import pytest

from jeton.model import decision as d
from jeton.model.failure import RunError
from jeton.model.ids import GroupId, SlotId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import Segment
from jeton.planning.program.workflow import RoutingChoice
from jeton.planning.tokens.routing import (
    BadFanOut,
    choose_transitions,
    follow,
    joined_from_new,
    joined_group,
    move,
    too_many_tokens,
)
from jeton.planning.tokens.scope import scope_of
from tests.planning.given import Given, before, done, given, slot, started, token_at, workflow

ZERO, ONE, TWO = TokenId(0), TokenId(1), TokenId(2)

ALWAYS = workflow("{nodes: {a: {task: work}, b: {}, c: {}}, transitions: [{from: a, to: b}, {from: a, to: c}]}")


def followed(run: Given, node: str = "a") -> list[d.Decision] | BadFanOut | RunError:
    """What comes of all that matches, for the token that finished the node."""
    state = run.state()
    token, place = token_at(state, node), run.program.nodes[node]
    names = scope_of(run.program, state, token, None)
    choice = choose_transitions(place.tiers, token.loops, names, place.definition.fan_out == "first_match")
    assert isinstance(choice, RoutingChoice)
    return follow(run.program, state, token, choice, names)


def routed(*transitions: int, token: TokenId = ZERO, node: str = "a") -> d.RouteToken:
    return d.RouteToken(token, node, "completed", tuple(d.Considered(each, "matched") for each in transitions))


PLAIN = workflow("{nodes: {a: {task: work}, b: {}}, transitions: [{from: a, to: b}]}")
COUNTED = workflow("""
nodes: {a: {task: work}, b: {}}
transitions:
- {from: a, to: a, condition: "has(input.again)", loop_config: {max_iterations: 9}}
- {from: a, to: b, priority: 2}
""")
EACH = workflow("""
nodes: {a: {task: work}, b: {}}
transitions: [{from: a, to: b, foreach: {collection: input.items, item_var: item}}]
""")
SPAWN = workflow("""
nodes: {a: {task: work}, b: {}}
transitions: [{from: a, to: b, spawn_count: input.count, sibling_group: g}]
""")
BOUNDED = workflow("""
nodes: {a: {task: work}, b: {}}
transitions: [{from: a, to: b, foreach: {collection: input.items, max_parallel: 2}}]
""")
NAMED = workflow("{nodes: {a: {task: work}, b: {}}, transitions: [{from: a, to: b, sibling_group: g}]}")
SHARED = workflow("""
nodes: {a: {task: work}, b: {}, c: {}, e: {}}
transitions:
- {from: a, to: b, foreach: {collection: input.items}, sibling_group: g}
- {from: a, to: c, sibling_group: g}
- {from: a, to: e, sibling_group: h}
""")
BESIDE_NAMED = workflow("""
nodes: {a: {task: work}, b: {}, c: {}}
transitions:
- {from: a, to: b, sibling_group: g}
- {from: a, to: c}
""")
BESIDE_UNNAMED = workflow("""
nodes: {a: {task: work}, b: {}, c: {}}
transitions:
- {from: a, to: b, foreach: {collection: input.items}}
- {from: a, to: c}
""")


def opened(group: int, name: str, total: int, *segments: Segment, outer: SlotId | None = None) -> d.OpenGroup:
    return d.OpenGroup(GroupId(group), name, "a", ZERO, "root", total, segments, outer)


def branch(token: int, node: str, index: int, group: int = 0) -> d.CreateToken:
    return d.CreateToken(TokenId(token), node, f"root.{node}.{index}", ZERO, slot(group, index))


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            before(d.RouteToken, PLAIN, started(), done(0)),
            [routed(0), d.CreateToken(ONE, "b", "root", ZERO)],
            id="one plain match moves the token, and its path stays as long as it was",
        ),
        pytest.param(
            before(d.RouteToken, COUNTED, started({"again": True}), done(0), done(1)),
            [routed(0, token=ONE), d.CreateToken(TWO, "a", "root", ONE, loops={0: 2})],
            id="a bounded transition is counted for the lineage that follows it",
        ),
        pytest.param(
            before(d.RouteToken, ALWAYS, started(), done(0)),
            [
                routed(0, 1),
                opened(0, "a", 2, Segment(0, 0, 1), Segment(1, 1, 1)),
                branch(1, "b", 0),
                branch(2, "c", 1),
            ],
            id="two plain matches are a group of two, named like the node",
        ),
        pytest.param(
            before(d.RouteToken, EACH, started({"items": ["x", "y"]}), done(0)),
            [
                routed(0),
                opened(0, "a", 2, Segment(0, 0, 2, ["x", "y"])),
                branch(1, "b", 0),
                branch(2, "b", 1),
            ],
            id="foreach makes a branch of each item",
        ),
        pytest.param(
            before(d.RouteToken, EACH, started({"items": ["x"]}), done(0)),
            [routed(0), opened(0, "a", 1, Segment(0, 0, 1, ["x"])), branch(1, "b", 0)],
            id="one item is a branch too",
        ),
        pytest.param(
            before(d.RouteToken, EACH, started({"items": []}), done(0)),
            [routed(0), opened(0, "a", 0, Segment(0, 0, 0, []))],
            id="of an empty list there is a group, and nobody in it",
        ),
        pytest.param(
            before(d.RouteToken, SPAWN, started({"count": 2}), done(0)),
            [routed(0), opened(0, "g", 2, Segment(0, 0, 2)), branch(1, "b", 0), branch(2, "b", 1)],
            id="spawn_count makes so many, without items",
        ),
        pytest.param(
            before(d.RouteToken, SPAWN, started({"count": 0}), done(0)),
            [routed(0), opened(0, "g", 0, Segment(0, 0, 0))],
            id="or none",
        ),
        pytest.param(
            before(d.RouteToken, BOUNDED, started({"items": [1, 2, 3]}), done(0)),
            [
                routed(0),
                opened(0, "a", 3, Segment(0, 0, 3, [1, 2, 3], 2)),
                branch(1, "b", 0),
                branch(2, "b", 1),
            ],
            id="under max_parallel only so many are made, and the group knows of all",
        ),
        pytest.param(
            before(d.RouteToken, NAMED, started(), done(0)),
            [routed(0), opened(0, "g", 1, Segment(0, 0, 1)), branch(1, "b", 0)],
            id="a transition that names a group makes a branch, alone too",
        ),
        pytest.param(
            before(d.RouteToken, SHARED, started({"items": ["x", "y"]}), done(0)),
            [
                routed(0, 1, 2),
                opened(0, "g", 3, Segment(0, 0, 2, ["x", "y"]), Segment(1, 2, 1)),
                opened(1, "h", 1, Segment(2, 0, 1)),
                branch(1, "b", 0),
                branch(2, "b", 1),
                branch(3, "c", 2),
                branch(4, "e", 0, group=1),
            ],
            id="those that name one group share its numbering, in order; another name is another group",
        ),
        pytest.param(
            before(d.RouteToken, BESIDE_NAMED, started(), done(0)),
            [
                routed(0, 1),
                opened(0, "g", 1, Segment(0, 0, 1)),
                branch(1, "b", 0),
                d.CreateToken(TWO, "c", "root", ZERO),
            ],
            id="one plain match beside named groups only makes no branch",
        ),
        pytest.param(
            before(d.RouteToken, BESIDE_UNNAMED, started({"items": ["x"]}), done(0)),
            [
                routed(0, 1),
                opened(0, "a", 2, Segment(0, 0, 1, ["x"]), Segment(1, 1, 1)),
                branch(1, "b", 0),
                branch(2, "c", 1),
            ],
            id="one beside an unnamed foreach shares its group",
        ),
    ],
)
def test_what_comes_of_a_match(run: Given, then: list[d.Decision]) -> None:
    assert followed(run) == then


INSIDE = workflow("""
nodes: {s: {}, a: {task: work}, b: {}}
transitions:
- {from: s, to: a, spawn_count: 1, sibling_group: out, loop_config: {max_iterations: 3}}
- {from: a, to: b, spawn_count: 1, sibling_group: in}
""")
ERROR: JsonObject = {"type": "boom"}


def test_branches_have_the_path_the_loops_and_the_error_of_the_token_that_fanned_out() -> None:
    run = before(d.RouteToken, INSIDE, started(), done(1))
    state = run.state()
    token, node = token_at(state, "a"), INSIDE.nodes["a"]
    names = scope_of(INSIDE, state, token, None)
    choice = choose_transitions(node.tiers, token.loops, names, first_match=False)
    assert isinstance(choice, RoutingChoice)
    assert follow(INSIDE, state, token, choice, names, "failed", ERROR) == [
        d.RouteToken(ONE, "a", "failed", (d.Considered(1, "matched"),)),
        d.OpenGroup(GroupId(1), "in", "a", ONE, "root.a.0", 1, (Segment(1, 0, 1),), slot(0, 0), {0: 1}, ERROR),
        d.CreateToken(TWO, "b", "root.a.0.b.0", ONE, slot(1, 0), {0: 1}, ERROR),
    ]


def test_a_token_that_moves_on_ends_completed_unless_it_is_said_otherwise() -> None:
    state = before(d.RouteToken, PLAIN, started(), done(0)).state()
    direct = PLAIN.nodes["a"].direct
    assert direct is not None
    onward = d.CreateToken(ONE, "b", "root", ZERO)
    assert move(state, token_at(state, "a"), direct) == [routed(0), onward]
    assert move(state, token_at(state, "a"), direct, "failed", ERROR) == [
        d.RouteToken(ZERO, "a", "failed", (d.Considered(0, "matched"),)),
        d.CreateToken(ONE, "b", "root", ZERO, error=ERROR),
    ]


BAD_ITEMS = "foreach needs a list, and 'input.items' gives none: "


@pytest.mark.parametrize(
    ("run", "type", "says"),
    [
        pytest.param(
            before(d.FailNode, EACH, started({"items": {"x": 1}}), done(0)),
            "not_a_list",
            BAD_ITEMS + "it is an object",
            id="foreach over what is no list",
        ),
        pytest.param(
            before(d.FailNode, EACH, started(), done(0)),
            "not_a_list",
            BAD_ITEMS + "nothing is at input.items",
            id="foreach over what is missing",
        ),
        pytest.param(
            before(d.FailNode, SPAWN, started({"count": -1}), done(0)),
            "not_a_count",
            "spawn_count 'input.count' must give a whole number, 0 or more",
            id="fewer than none",
        ),
        pytest.param(
            before(d.FailNode, SPAWN, started({"count": 1.5}), done(0)), "not_a_count", "", id="one and a half"
        ),
        pytest.param(before(d.FailNode, SPAWN, started({"count": True}), done(0)), "not_a_count", "", id="true"),
        pytest.param(before(d.FailNode, SPAWN, started(), done(0)), "not_a_count", "", id="a count that is missing"),
    ],
)
def test_a_fan_out_that_cannot_be_made(run: Given, type: str, says: str) -> None:
    bad = followed(run)
    assert isinstance(bad, BadFanOut)
    assert (bad.type, bad.message) == (type, says or bad.message)


@pytest.mark.parametrize(
    ("transition", "input", "says"),
    [
        pytest.param(
            "foreach: {collection: 'input.items[3]'}",
            {"items": []},
            "foreach over 'input.items[3]': ",
            id="of a foreach",
        ),
        pytest.param("spawn_count: 1 / input.n", {"n": 0}, "spawn_count '1 / input.n': ", id="of a count"),
    ],
)
def test_an_expression_that_fails_says_where(transition: str, input: Json, says: str) -> None:
    program = workflow(f"{{nodes: {{a: {{task: work}}, b: {{}}}}, transitions: [{{from: a, to: b, {transition}}}]}}")
    bad = followed(before(d.FailNode, program, started(input), done(0)))
    assert isinstance(bad, BadFanOut)
    assert bad.type == "expression_error"
    assert bad.message.startswith(says)


def limited(limit: int) -> Given:
    program = workflow(f"""
nodes: {{a: {{task: work}}, b: {{}}}}
transitions: [{{from: a, to: b, spawn_count: 3}}]
limits: {{max_tokens: {limit}}}
""")
    return before(d.RouteToken, program, started(), done(0))


def test_as_many_tokens_as_the_limit_may_be_alive_at_once() -> None:
    """The token that fans out ends with it."""
    assert isinstance(followed(limited(3)), list)
    refused = followed(limited(2))
    assert refused == too_many_tokens(limited(2).program, "a")
    assert refused == RunError("limit_exceeded", "max_tokens: more than 2 tokens would be alive at once, at 'a'", "a")


NESTED = workflow("""
nodes: {s: {}, o: {}, w: {task: work}, near: {}, far: {}, out: {}}
transitions:
- {from: s, to: o, spawn_count: 1, sibling_group: outer}
- {from: o, to: w, spawn_count: 1, sibling_group: inner}
- {from: w, to: near, condition: input.to == 'near', synchronization: {}}
- {from: w, to: far, condition: input.to == 'far', priority: 2, synchronization: {sibling_group: outer}}
- {from: w, to: out, priority: 3}
- {from: near, to: far, synchronization: {sibling_group: outer}}
""")
STRAIGHT = workflow("""
nodes: {a: {task: work}, end: {}}
transitions: [{from: a, to: end, spawn_count: 2, sibling_group: g, synchronization: {sibling_group: g}}]
""")


@pytest.mark.parametrize(
    ("to", "group"),
    [
        pytest.param("near", 1, id="a fan-in without a name waits for the innermost group"),
        pytest.param("far", 0, id="a named one for the group of that name"),
    ],
)
def test_a_token_that_reaches_a_fan_in_waits_itself(to: str, group: int) -> None:
    run = before(d.RouteToken, NESTED, started({"to": to}), done(2))
    decisions = followed(run, "w")
    assert isinstance(decisions, list)
    stays, parked = decisions
    assert isinstance(stays, d.RouteToken)
    assert (stays.token, stays.ends) == (TWO, None)
    assert parked == d.ParkToken(TWO, GroupId(group), to, 2 if to == "near" else 3)


def test_branches_that_go_straight_to_their_fan_in_are_parked_after_all_are_made() -> None:
    """They never stand at its target: that is for the token that goes on."""
    made = (d.CreateToken(TokenId(1 + i), "a", f"root.end.{i}", ZERO, slot(0, i)) for i in range(2))
    parked = (d.ParkToken(TokenId(1 + i), GroupId(0), "end", 0) for i in range(2))
    opened_group = opened(0, "g", 2, Segment(0, 0, 2))
    assert followed(before(d.RouteToken, STRAIGHT, started(), done(0))) == [routed(0), opened_group, *made, *parked]


def test_whose_fan_in_a_transition_leads_to() -> None:
    state = given(NESTED, started({"to": "near"})).state()
    to_near, to_far, to_out = NESTED.transitions[2], NESTED.transitions[3], NESTED.transitions[4]
    assert joined_group(state, slot(1, 0), to_near) == 1
    assert joined_group(state, slot(1, 0), to_far) == 0
    assert joined_group(state, slot(1, 0), to_out) is None, "it does not synchronize"
    assert joined_group(state, None, to_near) is None, "outside all groups a token passes through"
    assert joined_group(state, None, to_far) is None


def test_a_branch_that_is_being_made_is_in_its_own_group_first() -> None:
    state = given(NESTED, started({"to": "near"})).state()
    to_near, to_far, to_out = NESTED.transitions[2], NESTED.transitions[3], NESTED.transitions[4]
    new = GroupId(9)
    assert joined_from_new(state, slot(0, 0), to_near, "g", new) == new
    assert joined_from_new(state, slot(0, 0), to_far, "outer", new) == new
    assert joined_from_new(state, slot(0, 0), to_far, "g", new) == 0
    assert joined_from_new(state, slot(0, 0), to_out, "g", new) is None
