"""What an expression sees."""

import pytest

from jeton.expression import Failed, Missing, compile_expression
from jeton.expression.mapping import evaluate_copied, evaluate_mapping
from jeton.model.ids import TokenId
from jeton.model.json import Json, JsonObject
from jeton.planning.tokens.scope import scope_of
from tests.planning.given import Given, done, failed, given, started, workflow

PLAIN = workflow("""
nodes: {a: {task: work, output_mapping: {state.x: result.x, output.y: result.x}}, b: {task: work}}
transitions: [{from: a, to: b}]
""")
NESTED = workflow("""
nodes: {s: {}, o: {task: work, output_mapping: {state.seen: result.seen}}, w: {task: work}}
transitions:
- {from: s, to: o, foreach: {collection: input.outer, item_var: item}, sibling_group: out}
- {from: o, to: w, foreach: {collection: input.inner, item_var: inner}, sibling_group: in}
""")
SHADOWED = workflow("""
nodes: {s: {}, o: {}, w: {task: work}}
transitions:
- {from: s, to: o, foreach: {collection: input.outer, item_var: item}}
- {from: o, to: w, foreach: {collection: input.inner, item_var: item}}
""")
NAMED_RUN = workflow("""
nodes: {s: {}, w: {task: work}}
transitions: [{from: s, to: w, foreach: {collection: input.outer, item_var: run}}]
""")
HANDLED = workflow("""
nodes: {a: {task: work}, b: {task: work}}
transitions: [{from: a, to: b, condition: has(state._last_error)}]
""")
LISTS: JsonObject = {"outer": [1, 2], "inner": ["a"]}
ERROR: JsonObject = {"node": "a", "step": "s", "type": "boom", "message": "it broke", "attempts": 1}
OUTER: JsonObject = {
    "index": 1,
    "total": 2,
    "item": 2,
    "fan_out_node_id": "s",
    "output": {"seen": True},
    "outer": None,
}


@pytest.mark.parametrize(
    ("run", "token", "then"),
    [
        pytest.param(
            given(PLAIN, started({"i": 1}), done(0, {"x": 2})),
            1,
            {"input": {"i": 1}, "state": {"x": 2}, "output": {"y": 2}},
            id="input, state and output",
        ),
        pytest.param(
            given(HANDLED, started({"i": 1}), failed(0)),
            1,
            {"input": {"i": 1}, "state": {"_last_error": ERROR}, "output": {}},
            id="the last error on its path is under state",
        ),
        pytest.param(
            given(NESTED, started(LISTS)),
            2,
            {"input": LISTS, "state": {}, "output": {}, "_branch": {**OUTER, "output": {}}, "item": 2},
            id="in a branch its own slot, and the item under its name",
        ),
        pytest.param(
            given(NESTED, started(LISTS), done(2, {"seen": True})),
            3,
            {
                "input": LISTS,
                "state": {},
                "output": {},
                "_branch": {
                    "index": 0,
                    "total": 1,
                    "item": "a",
                    "fan_out_node_id": "o",
                    "output": {},
                    "outer": OUTER,
                },
                "item": 2,
                "inner": "a",
            },
            id="in a branch inside it both, with what the outer one wrote",
        ),
    ],
)
def test_what_a_token_sees(run: Given, token: int, then: JsonObject) -> None:
    state = run.state()
    assert scope_of(run.program, state, state.tokens[TokenId(token)]) == {**then, "run": state.facts}


def test_the_inner_item_shadows_the_outer_of_the_same_name() -> None:
    state = given(SHADOWED, started(LISTS)).state()
    assert scope_of(SHADOWED, state, state.tokens[TokenId(3)])["item"] == "a"


def test_an_item_may_be_called_run() -> None:
    state = given(NAMED_RUN, started(LISTS)).state()
    assert scope_of(NAMED_RUN, state, state.tokens[TokenId(1)])["run"] == 1


def test_a_result_and_an_error_are_seen_when_there_is_one() -> None:
    state = given(PLAIN, started(), done(0, {"x": 2})).state()
    token = state.tokens[TokenId(1)]
    assert scope_of(PLAIN, state, token, None)["result"] is None
    assert scope_of(PLAIN, state, token, error=ERROR)["state"] == {"x": 2, "_last_error": ERROR}
    assert state.state == {"x": 2}, "the run's own state has no error in it"


def test_a_value_that_holds_a_whole_section_does_not_change_with_it() -> None:
    names: JsonObject = {"input": {}, "state": {"x": 1}, "output": {}}
    section = names["state"]
    assert isinstance(section, dict)
    whole = compile_expression("{'all': state}", names)
    kept, also_kept = evaluate_copied(whole, names), evaluate_mapping((("to", whole),), names)
    section["x"] = 2
    assert kept == {"all": {"x": 1}}
    assert also_kept == ({"to": {"all": {"x": 1}}}, ())


@pytest.mark.parametrize(
    ("sources", "then"),
    [
        pytest.param({"a": "input.x", "b": "'text'"}, ({"a": 1, "b": "text"}, ()), id="each target has its value"),
        pytest.param(
            {"a": "input.gone", "b": "input.x", "c": "state.gone"},
            ({"a": None, "b": 1, "c": None}, ("input.gone", "state.gone")),
            id="a missing path is null, and recorded",
        ),
    ],
)
def test_a_mapping(sources: dict[str, str], then: tuple[dict[str, Json], tuple[str, ...]]) -> None:
    names: JsonObject = {"input": {"x": 1}, "state": {}, "output": {}}
    mapping = tuple((target, compile_expression(source, names)) for target, source in sources.items())
    assert evaluate_mapping(mapping, names) == then


def test_any_other_problem_is_the_whole_mappings() -> None:
    names: JsonObject = {"input": {"x": "text"}, "state": {}, "output": {}}
    good, bad = compile_expression("input.x", names), compile_expression("input.x + 1", names)
    found = evaluate_mapping((("a", good), ("b", bad), ("c", good)), names)
    assert isinstance(found, Failed)
    assert found == evaluate_copied(bad, names)
    assert isinstance(evaluate_copied(compile_expression("input.gone", names), names), Missing)
