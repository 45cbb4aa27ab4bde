"""With which output a run of a flow ends."""

import pytest

from jeton.model import decision as d
from jeton.model.failure import RunError
from jeton.model.json import JsonObject
from jeton.planning.flow.output import FlowOutput, final_context, flow_output
from jeton.planning.flow.progress import flow_of
from tests.planning.flow_drive import BRANCHES, CHAIN, WORK, Driver, Object, program_of, run
from tests.planning.given import Given, before, done, flow, given, started

TWO = flow("nodes: {a: {type: work}, b: {type: work}}")
CHOICE = flow("""
nodes: {a: {type: work}, b: {type: work}, c: {type: work}}
connections: [{from: a, from_output: x, to: b}, {from: a, from_output: y, to: c}]
""")


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(
            before(d.EndRun, TWO, started({"k": 0, "i": 1}), done(1, {"k": "b"}), done(0, {"k": "a", "a": 1})),
            {"k": "b", "i": 1, "a": 1},
            id="the contexts of all last nodes, the later declared over the earlier, whichever came first",
        ),
        pytest.param(
            before(d.EndRun, CHOICE, started(), done(0, {"_branch": "x", "k": 1}), done(1, {"k": 2})),
            {"k": 2},
            id="a node that went on is no last node",
        ),
        pytest.param(
            before(d.EndRun, CHOICE, started(), done(0, {"_branch": "z", "k": 1})),
            {"k": 1},
            id="one whose branch led nowhere is",
        ),
        pytest.param(
            before(d.EndRun, CHOICE, started(), done(0, {"k": 1})), {"k": 1}, id="so is one whose handles sent nothing"
        ),
        pytest.param(
            before(d.EndRun, flow("nodes: {}"), started({"i": 1})),
            {"i": 1},
            id="a flow that ran nothing gives its input",
        ),
    ],
)
def test_the_final_context(run: Given, then: JsonObject) -> None:
    assert final_context(flow_of(run.program), run.state().flow) == then


MAPPED = flow("{nodes: {a: {type: work}}, output_mapping: {deep.x: context.x, deep.gone: context.gone, n: 3}}")
STRICT = flow("""
nodes: {a: {type: work}}
output_mapping: {x: context.x}
output_schema: {properties: {x: {type: integer}}}
""")
UNMAPPABLE = flow("{nodes: {a: {type: work}}, output_mapping: {x: context.x + 1}}")


@pytest.mark.parametrize(
    ("run", "then"),
    [
        pytest.param(given(TWO, started({"i": 1}), done(0), done(1)), FlowOutput({"i": 1}), id="the final context"),
        pytest.param(
            given(MAPPED, started(), done(0, {"x": 1})),
            FlowOutput({"deep": {"x": 1, "gone": None}, "n": 3}, ("context.gone",)),
            id="or what the mapping makes of it, a missing path null and recorded",
        ),
        pytest.param(given(STRICT, started(), done(0, {"x": 1})), FlowOutput({"x": 1}), id="it fits the schema"),
        pytest.param(
            given(STRICT, started(), done(0, {"x": "one"})),
            RunError("output_invalid", 'output.x: "one" is not of type "integer"'),
            id="or fails the run",
        ),
    ],
)
def test_the_output(run: Given, then: FlowOutput | RunError) -> None:
    assert flow_output(flow_of(run.program), run.state().flow, {}) == then


def test_a_mapping_that_cannot_be_evaluated_fails_the_run_and_shows_the_values() -> None:
    error = flow_output(flow_of(UNMAPPABLE), given(UNMAPPABLE, started(), done(0, {"x": "one"})).state().flow, {})
    assert isinstance(error, RunError)
    assert (error.type, error.details) == ("expression_error", {"context.x": "one"})
    assert error.message.startswith("the flow's output_mapping at ")


class TestWholeRuns:
    def test_it_is_the_contexts_of_the_last_nodes_in_declaration_order(self) -> None:
        both: Object = {"nodes": {"a": WORK, "b": WORK}}
        done = Driver(program_of(**both), {"x": 1})
        done.finish("b", {"k": "b"})
        done.finish("a", {"k": "a"})
        assert done.output == {"x": 1, "k": "b"}

    def test_a_node_whose_branch_led_nowhere_is_a_last_node(self) -> None:
        done = Driver(program_of(**BRANCHES))
        done.finish("a", {"_branch": "neither", "k": 1})
        assert done.output == {"k": 1}

    def test_a_mapping_says_it_otherwise(self) -> None:
        done = run({**CHAIN, "output_mapping": {"total.value": "context.result", "gone": "context.gone"}})
        assert done.output == {"total": {"value": 16}, "gone": None}

    def test_an_empty_flow_completes_with_what_it_was_given(self) -> None:
        """D10"""
        done = run({"nodes": {}}, {"x": 1})
        assert (done.status, done.output) == ("completed", {"x": 1})
