"""Whether somebody may write this into the state of a run that is forked."""

import pytest

from jeton.model.failure import Refused
from jeton.model.json import Json
from jeton.planning.edits import check_edits
from jeton.planning.program.workflow import Program
from tests.planning.given import flow, given, started, workflow

WORKFLOW = workflow("{nodes: {a: {task: work}}, state_schema: {properties: {n: {type: integer}}}}")
FLOW = flow("nodes: {a: {type: work}}")


@pytest.mark.parametrize(
    ("program", "writes"),
    [
        pytest.param(WORKFLOW, {}, id="nothing"),
        pytest.param(WORKFLOW, {"state.n": 1, "state.deep.x": 2}, id="what a node could have written to the state"),
        pytest.param(WORKFLOW, {"output.n": "x"}, id="or to the output, which has no schema yet"),
        pytest.param(FLOW, {}, id="a flow may be forked as it is"),
    ],
)
def test_what_may_be_edited(program: Program, writes: dict[str, Json]) -> None:
    check_edits(program, given(program, started()).state(), writes)


@pytest.mark.parametrize(
    ("program", "path", "value", "code", "says"),
    [
        pytest.param(WORKFLOW, "state.n", "x", "state_invalid", "is not of type", id="a value that does not fit"),
        pytest.param(WORKFLOW, "input.n", 1, "bad_path", "'input.n' cannot be edited", id="the input"),
        pytest.param(WORKFLOW, "_branch.output", 1, "bad_path", "'_branch.output'", id="a branch"),
        pytest.param(WORKFLOW, "state", {}, "bad_path", "'state' cannot be edited", id="all of the state at once"),
        pytest.param(WORKFLOW, "state.", 1, "bad_path", "'state.'", id="a name of nothing"),
        pytest.param(WORKFLOW, "state.a..b", 1, "bad_path", "'state.a..b'", id="a gap in the path"),
        pytest.param(FLOW, "state.n", 1, "bad_path", "a flow has no state", id="anything of a flow"),
    ],
)
def test_what_may_not(program: Program, path: str, value: Json, code: str, says: str) -> None:
    with pytest.raises(Refused) as refused:
        check_edits(program, given(program, started()).state(), {path: value})
    assert refused.value.code == code
    assert says in refused.value.problem
    assert refused.value.remedy


def test_one_bad_edit_refuses_all() -> None:
    with pytest.raises(Refused):
        check_edits(WORKFLOW, given(WORKFLOW, started()).state(), {"state.n": 1, "input.n": 1})
