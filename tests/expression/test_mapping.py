"""Mappings: what they give, what is missing, and what fails."""

import pytest

from jeton.expression import Failed
from jeton.expression.mapping import build_tree, compile_mapping, evaluate_copied, evaluate_mapping, failure_text
from jeton.expression.mapping import compile_value as value
from jeton.model.json import Json, JsonObject

NAMES = ("input", "state", "output")


def scope(**names: Json) -> JsonObject:
    return {"input": {}, "state": {}, "output": {}, **names}


@pytest.mark.parametrize(
    ("mapping", "values", "missing"),
    [
        pytest.param({"a": "input.n + 1"}, {"a": 3}, (), id="a string is an expression"),
        pytest.param({"a": 5, "b": [1]}, {"a": 5, "b": [1]}, (), id="anything else stands for itself"),
        pytest.param({"a": "input.x", "b": "input.n"}, {"a": None, "b": 2}, ("input.x",), id="a missing path is null"),
        pytest.param(
            {"a": "input.x", "b": "state.y"}, {"a": None, "b": None}, ("input.x", "state.y"), id="all of them"
        ),
    ],
)
def test_a_mapping_gives_the_value_of_every_target(
    mapping: JsonObject, values: JsonObject, missing: tuple[str, ...]
) -> None:
    assert evaluate_mapping(compile_mapping(mapping, NAMES), scope(input={"n": 2})) == (values, missing)


def test_any_other_problem_fails_the_whole_mapping() -> None:
    found = evaluate_mapping(compile_mapping({"a": "input.n", "b": "input.n / 0"}, NAMES), scope(input={"n": 2}))
    assert isinstance(found, Failed)
    assert failure_text("input_mapping", found) == f"input_mapping at 1:9: {found.problem} with {{'input.n': 2}}"


def test_a_whole_section_is_copied_because_the_section_itself_changes() -> None:
    state: JsonObject = {"n": 1}
    kept = evaluate_copied(value("state", NAMES), scope(state=state))
    mapped = evaluate_mapping(compile_mapping({"a": "state"}, NAMES), scope(state=state))
    state["n"] = 2
    assert kept == {"n": 1}
    assert mapped == ({"a": {"n": 1}}, ())


@pytest.mark.parametrize(
    ("values", "tree"),
    [
        pytest.param({}, {}, id="no target, no key"),
        pytest.param({"a": 1, "b": 2}, {"a": 1, "b": 2}, id="a key each"),
        pytest.param({"a.b": 1, "a.c.d": 2}, {"a": {"b": 1, "c": {"d": 2}}}, id="dots go deeper"),
        pytest.param({"a": 1, "a.b": 2}, {"a": {"b": 2}}, id="a later target replaces what is no object"),
        pytest.param({"a": {"x": 1}, "a.b": 2}, {"a": {"x": 1, "b": 2}}, id="and adds to what is one"),
    ],
)
def test_the_object_that_targets_describe(values: JsonObject, tree: JsonObject) -> None:
    before = {target: dict(given) if isinstance(given, dict) else given for target, given in values.items()}
    assert build_tree(values) == tree
    assert values == before, "what was given is not changed"
