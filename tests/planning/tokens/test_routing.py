"""Which transitions a finished token follows, and what is said when there is none."""

import pytest

from jeton.model import decision as d
from jeton.model.failure import RunError
from jeton.model.ids import TokenId
from jeton.model.json import Json, JsonObject
from jeton.planning.program.workflow import RoutingChoice
from jeton.planning.tokens.routing import (
    choose_transitions,
    loops_after,
    no_match_error,
)
from tests.planning.given import given, started, token_at, workflow

ZERO, ONE, TWO = TokenId(0), TokenId(1), TokenId(2)

TIERS = workflow("""
nodes: {a: {task: work}, b: {}, c: {}, e: {}, f: {}}
transitions:
- {from: a, to: e, condition: input.last, priority: 5}
- {from: a, to: b, condition: input.n > 1}
- {from: a, to: c, condition: input.n > 2}
- {from: a, to: f, condition: input.n == 0, priority: 3}
""")
LOOP = workflow("""
nodes: {a: {task: work}, b: {}}
transitions:
- {from: a, to: a, condition: input.n > 1, loop_config: {max_iterations: 2}}
- {from: a, to: b, priority: 2}
""")


@pytest.mark.parametrize(
    ("n", "first_match", "targets", "considered"),
    [
        pytest.param(2, False, ["b"], [(1, "matched"), (2, "false")], id="the first tier with a match wins"),
        pytest.param(3, False, ["b", "c"], [(1, "matched"), (2, "matched")], id="all matches in it are followed"),
        pytest.param(3, True, ["b"], [(1, "matched"), (2, "not_first")], id="or, if the node says so, only the first"),
        pytest.param(
            0,
            False,
            ["f"],
            [(1, "false"), (2, "false"), (3, "matched")],
            id="tiers come by priority, not as declared; those behind the winner are not looked at",
        ),
        pytest.param(
            1,
            False,
            [],
            [(1, "false"), (2, "false"), (3, "false"), (0, "missing")],
            id="a condition on what is missing is no match, and is said to be that",
        ),
    ],
)
def test_the_choice(n: int, first_match: bool, targets: list[str], considered: list[tuple[int, str]]) -> None:
    choice = choose_transitions(TIERS.nodes["a"].tiers, {}, {"input": {"n": n}, "state": {}, "output": {}}, first_match)
    assert isinstance(choice, RoutingChoice)
    assert [match.target for match in choice.matches] == targets
    assert [(each.transition, each.verdict) for each in choice.considered] == considered


def test_a_missing_path_is_named() -> None:
    choice = choose_transitions(
        TIERS.nodes["a"].tiers, {}, {"input": {"n": 1}, "state": {}, "output": {}}, first_match=False
    )
    assert isinstance(choice, RoutingChoice)
    assert choice.considered[-1] == d.Considered(0, "missing", "input.last")


@pytest.mark.parametrize(
    ("loops", "n", "then"),
    [
        pytest.param({}, 2, ["a"], id="a loop may be followed"),
        pytest.param({0: 1}, 2, ["a"], id="as often as it says"),
        pytest.param({0: 2}, 2, ["b"], id="and not once more"),
        pytest.param({0: 2}, "x", ["b"], id="its condition is not even evaluated then"),
        pytest.param({7: 9}, 2, ["a"], id="other loops do not count"),
    ],
)
def test_a_loop_is_bounded_for_each_lineage(loops: dict[int, int], n: Json, then: list[str]) -> None:
    choice = choose_transitions(
        LOOP.nodes["a"].tiers, loops, {"input": {"n": n}, "state": {}, "output": {}}, first_match=False
    )
    assert isinstance(choice, RoutingChoice)
    assert [match.target for match in choice.matches] == then


def test_a_loop_that_may_be_followed_once_is_followed_once() -> None:
    once = workflow("""
nodes: {a: {task: work}, b: {}}
transitions: [{from: a, to: a, loop_config: {max_iterations: 1}}, {from: a, to: b, priority: 2}]
""")
    names: JsonObject = {"input": {}, "state": {}, "output": {}}
    first, then = (choose_transitions(once.nodes["a"].tiers, loops, names, first_match=False) for loops in ({}, {0: 1}))
    assert isinstance(first, RoutingChoice)
    assert isinstance(then, RoutingChoice)
    assert ([each.target for each in first.matches], [each.target for each in then.matches]) == (["a"], ["b"])


def test_a_condition_that_cannot_be_evaluated_is_an_error_that_shows_the_values() -> None:
    error = choose_transitions(
        TIERS.nodes["a"].tiers, {}, {"input": {"n": "x"}, "state": {}, "output": {}}, first_match=False
    )
    assert isinstance(error, RunError)
    assert error.type == "expression_error"
    assert error.message.startswith("the condition 'input.n > 1' of the transition to 'b' failed: ")
    assert isinstance(error.details, dict)
    assert error.details["values"] == {"input.n": "x"}


def test_where_nothing_matches_each_condition_is_named_with_its_reason() -> None:
    names: JsonObject = {"input": {"n": 1}, "state": {}, "output": {}}
    place = TIERS.nodes["a"]
    choice = choose_transitions(place.tiers, {}, names, first_match=False)
    assert isinstance(choice, RoutingChoice)
    token = token_at(given(TIERS, started({"n": 1})).state(), "a")
    assert no_match_error(TIERS, place, token, choice, names) == RunError(
        "no_matching_transition",
        "node 'a' finished and no transition matches: "
        "to 'b': input.n > 1 is false with input.n = 1; "
        "to 'c': input.n > 2 is false with input.n = 1; "
        "to 'f': input.n == 0 is false with input.n = 1; "
        "to 'e': input.last has nothing at input.last",
        "a",
        0,
    )


def test_a_loop_that_is_used_up_is_a_reason_too() -> None:
    spent = RoutingChoice((), (d.Considered(0, "loop_limit_reached"),))
    token = token_at(given(LOOP, started({"n": 2})).state(), "a")
    error = no_match_error(LOOP, LOOP.nodes["a"], token, spent, {"input": {"n": 2}, "state": {}, "output": {}})
    assert "to 'a': input.n > 1 has no iteration left with input.n = 2" in error.message


def test_only_bounded_transitions_are_counted() -> None:
    assert loops_after({3: 1}, LOOP.transitions[0]) == {3: 1, 0: 1}
    assert loops_after({0: 1}, LOOP.transitions[0]) == {0: 2}
    assert loops_after({3: 1}, LOOP.transitions[1]) == {3: 1}
