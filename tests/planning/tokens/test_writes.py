"""What a finished node writes, and whether the state's schema allows it."""

import pytest

from jeton.model.ids import TokenId
from jeton.model.json import Json
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.writes import default_writes, state_problem
from tests.planning.given import done, given, started, workflow

BRANCHES = workflow("""
nodes: {a: {task: work}, b: {task: work}, c: {}}
transitions: [{from: a, to: b, spawn_count: 1}, {from: b, to: c}]
""")


@pytest.mark.parametrize(
    ("node", "token", "then"),
    [
        pytest.param("a", 0, {}, id="outside a branch nothing is written without a mapping"),
        pytest.param("b", 1, {"_branch.output": 7}, id="a branch keeps the result of its work"),
        pytest.param("c", 1, {}, id="a node without a target did no work"),
    ],
)
def test_what_is_written_without_a_mapping(node: str, token: int, then: dict[str, Json]) -> None:
    state = given(BRANCHES, started(), *[done(0)] * token).state()
    assert default_writes(BRANCHES.nodes[node], state.tokens[TokenId(token)], 7) == then


CLOSED = workflow("""
nodes: {a: {task: work, output_mapping: {state.deep: result}}, b: {task: work}}
transitions: [{from: a, to: b}]
state_schema:
  additionalProperties: false
  properties:
    n: {type: integer}
    deep: {type: object, properties: {x: {type: integer}, y: {type: integer}}}
    any: true
""")
OPEN = workflow("{nodes: {a: {task: work}}, state_schema: {properties: {n: {type: integer}, nil: false}}}")
FREE = workflow("nodes: {a: {task: work}}")


@pytest.mark.parametrize(
    ("writes", "then"),
    [
        pytest.param({"state.n": 1}, None, id="a value that fits"),
        pytest.param({"state.n": "x"}, 'state.n: "x" is not of type "integer"', id="one that does not, with its path"),
        pytest.param(
            {"state.deep.x": "x"}, 'state.deep.x: "x" is not of type "integer"', id="the path leads to the very value"
        ),
        pytest.param({"state.other": 1}, "state.other: the state schema has no 'other'", id="a key nobody declared"),
        pytest.param({"output.n": "x", "_branch.output.n": "x"}, None, id="only the state has a schema"),
        pytest.param({"state.any": [1]}, None, id="a key of which everything is allowed"),
        pytest.param(
            {"state.n": 1, "state.deep.x": 2, "state.other": 1},
            "state.other: the state schema has no 'other'",
            id="one that fits does not excuse another",
        ),
    ],
)
def test_what_a_closed_state_refuses(writes: dict[str, Json], then: str | None) -> None:
    assert state_problem(CLOSED, given(CLOSED, started()).state(), writes) == then


def test_what_is_there_already_is_checked_with_what_is_written_below_it() -> None:
    state = given(CLOSED, started(), done(0, {"y": 2})).state()
    assert state.state == {"deep": {"y": 2}}
    assert state_problem(CLOSED, state, {"state.deep.x": 1}) is None
    assert state_problem(CLOSED, state, {"state.deep.y": "x"}) == 'state.deep.y: "x" is not of type "integer"'


@pytest.mark.parametrize(
    ("program", "writes", "fits"),
    [
        pytest.param(OPEN, {"state.other": 1}, True, id="an open state takes keys that its schema does not name"),
        pytest.param(OPEN, {"state.nil": 1}, False, id="but none that it forbids"),
        pytest.param(FREE, {"state.n": "x"}, True, id="without a schema everything fits"),
    ],
)
def test_what_an_open_state_takes(program: Program, writes: dict[str, Json], fits: bool) -> None:
    assert (state_problem(program, given(program, started()).state(), writes) is None) is fits
