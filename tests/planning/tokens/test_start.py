"""Which tokens a new run begins with."""

import pytest

from jeton.model import decision as d
from jeton.model.failure import RunError
from jeton.model.ids import RunId, TokenId
from jeton.model.message import CancelRun, StartRun
from jeton.model.state.credits import Purse
from jeton.model.state.run import FiredBy, Parent
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.start import plan_cancelled_start, plan_start
from tests.planning.given import Given, flow, given, started, workflow

PLAIN = workflow("nodes: {a: {task: work}}")
TIMED = workflow("{timeout_ms: 100, nodes: {a: {task: work}}}")
STRICT = workflow("{input_schema: {type: object, required: [x]}, nodes: {a: {task: work}}}")
DEFAULTS = workflow(
    """
    state_schema:
      properties: {z: {type: integer, default: 3}, a: {default: []}, n: {type: [string, "null"], default: null}, m: {}}
    nodes: {a: {task: work}}
    """
)
BOXES = flow("nodes: {a: {type: work}, b: {type: work}}")
TRIGGERS = flow("nodes: {t: {type: trigger}, u: {type: trigger}}")

PARENT = Parent(RunId("p"), TokenId(4), RunId("p"), 1)
FIRED = FiredBy("event", 1, "go", "u")
FIRST = d.CreateToken(TokenId(0), "a", "root")


@pytest.mark.parametrize(
    ("run", "message", "then"),
    [
        pytest.param(
            given(PLAIN), StartRun(7, {"x": 1}), [d.BeginRun(7, {"x": 1}), FIRST], id="one token at the initial node"
        ),
        pytest.param(
            given(TIMED), StartRun(7, {}), [d.BeginRun(7, {}, 107), FIRST], id="a run's time begins with its start"
        ),
        pytest.param(
            given(DEFAULTS),
            StartRun(7, {}),
            [d.BeginRun(7, {}, state={"a": [], "n": None, "z": 3}), FIRST],
            id="the state begins with its defaults, in order of names",
        ),
        pytest.param(given(PLAIN, started()), StartRun(7, {}), [], id="a second start of the same run changes nothing"),
        pytest.param(
            given(STRICT),
            StartRun(7, {"x": 1}, parent=PARENT),
            [d.BeginRun(7, {"x": 1}, parent=PARENT), FIRST],
            id="a child knows its parent",
        ),
        pytest.param(
            given(STRICT),
            StartRun(7, {}, parent=PARENT),
            [
                d.BeginRun(7, {}, parent=PARENT),
                d.EndRun(7, "failed", error=RunError("input_invalid", 'input: "x" is a required property')),
            ],
            id="what a parent maps is checked by the child, which fails",
        ),
        pytest.param(
            given(STRICT),
            StartRun(7, {}),
            [d.BeginRun(7, {}), FIRST],
            id="anybody else's input was checked before it was accepted",
        ),
        pytest.param(
            given(PLAIN),
            StartRun(7, {}, trigger=FIRED, credits=3),
            [d.BeginRun(7, {}, trigger=FIRED, purse=Purse(free=3)), FIRST],
            id="what fired a run, and what it may spend, is kept",
        ),
        pytest.param(
            given(BOXES),
            StartRun(7, {"x": 1}, overrides={"a": {"main": 2}}),
            [
                d.BeginRun(7, {"x": 1}, overrides={"a": {"main": 2}}),
                d.SettleNodes(ready=("a", "b")),
                d.CreateToken(TokenId(0), "a", "root"),
                d.CreateToken(TokenId(1), "b", "root"),
            ],
            id="a flow has a token at every node that begins",
        ),
        pytest.param(
            given(TRIGGERS),
            StartRun(7, {}, trigger=FIRED),
            [
                d.BeginRun(7, {}, trigger=FIRED),
                d.SettleNodes(skipped=("t",), ready=("u",)),
                d.CreateToken(TokenId(0), "u", "root"),
            ],
            id="of a flow's triggers the one that fired begins",
        ),
    ],
)
def test_a_start(run: Given, message: StartRun, then: list[d.Decision]) -> None:
    assert plan_start(run.program, run.state(), message) == then


def test_planning_a_start_twice_names_the_same_token() -> None:
    program: Program = PLAIN
    state = given(program).state()
    assert plan_start(program, state, started()) == plan_start(program, state, started())


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(given(TIMED), [d.BeginRun(9, {"x": 1}, trigger=FIRED, key="k")], id="nothing of it is computed"),
        pytest.param(given(TIMED, started()), [], id="a run that began goes on to its cancellation"),
    ],
)
def test_a_run_that_is_cancelled_at_its_start_begins_for_its_history_alone(run: Given, then: list[d.Decision]) -> None:
    start = StartRun(7, {"x": 1}, trigger=FIRED, key="k")
    assert plan_cancelled_start(run.state(), CancelRun(9, "enough", start=start)) == then
    assert plan_cancelled_start(run.state(), CancelRun(9, "enough")) == []
