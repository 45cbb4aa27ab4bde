"""Checks of gates and ends: templates and default answers."""

from jeton.definitions.check_schema import value_problem
from jeton.definitions.checks.graph.graph import Graph
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.template import check_template
from jeton.definitions.report import Report
from jeton.model.definition.workflow import EndTarget, GateTarget, WaitTarget


def check_gates(graph: Graph, report: Report) -> None:
    """Check every gate of a workflow, the defaults of its waits, and the messages of its failed ends."""
    for name, node in graph.workflow.nodes.items():
        if isinstance(node.target, GateTarget):
            check_gate(node.target, graph.source.node(name) / "gate", report)
        elif isinstance(node.target, WaitTarget):
            _check_default(node.target, graph.source.node(name) / "wait" / "on_timeout", report)
        elif isinstance(node.target, EndTarget) and node.target.failed is not None:
            location = graph.source.node(name) / "end" / "failed" / "message"
            check_template("message", node.target.failed.message, location, report)


def check_gate(gate: GateTarget, location: SourceLocation, report: Report) -> None:
    """Check that the title is a template and that the default answer fits the schema."""
    check_template("title", gate.title, location / "title", report)
    if gate.approvals == 1:
        _check_default(gate, location / "on_timeout", report)


def _check_default(target: GateTarget | WaitTarget, location: SourceLocation, report: Report) -> None:
    """Check that what follows a timeout fits the schema. A wait for one of several signals has no schema of its own."""
    if target.on_timeout != "fail" and target.schema is not None:
        found = value_problem(target.schema, target.on_timeout)
        if found is not None:
            problem = f"the default does not fit the schema: {found[1]}"
            report.error(location, "default_answer_invalid", problem, "write a value that fits, or 'fail'")
