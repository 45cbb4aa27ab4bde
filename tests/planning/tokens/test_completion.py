"""Whether the run is over, and with which output."""

import pytest

from jeton.model import decision as d
from jeton.model.failure import RunError
from jeton.planning.tokens.completion import plan_completion
from tests.planning.given import Given, before, done, flow, started, workflow

NOW = 9
PLAIN = workflow("nodes: {a: {task: work, output_mapping: {output.x: result.x, state.y: result.x}}}")
MAPPED = workflow("""
nodes: {a: {task: work, output_mapping: {state.y: result.x, output.z: result.x}}}
output_mapping: {deep.y: state.y, deep.gone: state.gone, given: input.i, was: output.z}
""")
UNMAPPABLE = workflow("""
nodes: {a: {task: work, output_mapping: {state.y: result.x}}}
output_mapping: {y: state.y + 1}
""")
STRICT = workflow("""
nodes: {a: {task: work, output_mapping: {output.x: result.x}}}
output_schema: {properties: {x: {type: integer}}}
""")
RACE = workflow("""
nodes: {s: {}, w: {task: work}, end: {}}
transitions:
- {from: s, to: w, spawn_count: 2}
- {from: w, to: end, synchronization: {strategy: any, on_early_complete: abandon}}
""")
FLOW = flow("nodes: {a: {type: work}}")


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            before(d.EndRun, PLAIN, started(), done(0, {"x": 1})),
            [d.EndRun(NOW, "completed", {"x": 1})],
            id="the output is what was written to it",
        ),
        pytest.param(
            before(d.EndRun, MAPPED, started({"i": 3}), done(0, {"x": 1})),
            [
                d.EndRun(
                    NOW, "completed", {"deep": {"y": 1, "gone": None}, "given": 3, "was": 1}, missing=("state.gone",)
                )
            ],
            id="or what the workflow's mapping makes of the run, a missing path null and recorded",
        ),
        pytest.param(
            before(d.EndRun, STRICT, started(), done(0, {"x": 1})),
            [d.EndRun(NOW, "completed", {"x": 1})],
            id="it fits the workflow's schema",
        ),
        pytest.param(
            before(d.EndRun, STRICT, started(), done(0, {"x": "one"})),
            [
                d.EndRun(
                    NOW,
                    "failed",
                    error=RunError("output_invalid", 'output.x: "one" is not of type "integer"'),
                )
            ],
            id="or the run fails",
        ),
        pytest.param(
            before(d.EndTokens, RACE, started(), done(1)),
            [d.EndTokens(((2, 2),), "cancelled", "abandoned"), d.EndRun(NOW, "completed", {})],
            id="what was abandoned holds no run open, and ends cancelled",
        ),
        pytest.param(
            before(d.EndRun, FLOW, started({"i": 3}), done(0, {"x": 1})),
            [d.EndRun(NOW, "completed", {"i": 3, "x": 1})],
            id="a flow's output is its final context",
        ),
    ],
)
def test_the_end_of_a_run(run: Given, then: list[d.Decision]) -> None:
    assert plan_completion(run.program, run.state(), NOW) == then


def test_an_output_mapping_that_cannot_be_evaluated_fails_the_run() -> None:
    state = before(d.EndRun, UNMAPPABLE, started(), done(0, {"x": "one"})).state()
    (end,) = plan_completion(UNMAPPABLE, state, NOW)
    assert isinstance(end, d.EndRun)
    assert (end.status, end.error and end.error.type) == ("failed", "expression_error")
    assert end.error is not None
    assert end.error.message.startswith("the workflow's output_mapping at ")
    assert end.error.details == {"state.y": "one"}
