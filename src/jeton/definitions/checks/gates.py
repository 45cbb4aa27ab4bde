"""Checks of gates and ends: templates and default answers."""

from jeton.definitions.check_schema import value_problem
from jeton.definitions.checks.graph.graph import Graph
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.template import check_template
from jeton.definitions.report import Report
from jeton.model.definition.workflow import EndTarget, GateTarget


def check_gates(graph: Graph, report: Report) -> None:
    """Check every gate of a workflow, and the messages of its failed ends."""
    for name, node in graph.workflow.nodes.items():
        if isinstance(node.target, GateTarget):
            check_gate(node.target, graph.source.node(name) / "gate", report)
        elif isinstance(node.target, EndTarget) and node.target.failed is not None:
            location = graph.source.node(name) / "end" / "failed" / "message"
            check_template("message", node.target.failed.message, location, report)


def check_gate(gate: GateTarget, location: SourceLocation, report: Report) -> None:
    """Check that the title is a template and that the default answer fits the schema."""
    check_template("title", gate.title, location / "title", report)
    if gate.on_timeout != "fail" and gate.schema is not None and gate.approvals == 1:
        found = value_problem(gate.schema, gate.on_timeout)
        if found is not None:
            problem = f"the default answer does not fit the gate's schema: {found[1]}"
            report.error(
                location / "on_timeout", "default_answer_invalid", problem, "write an answer that fits, or 'fail'"
            )
