"""Checks of gates: title templates and default answers."""

from jeton.definitions.check_schema import value_problem
from jeton.definitions.checks.graph.graph import Graph
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, shown
from jeton.expression.templates.template import Template
from jeton.model.definition.workflow import GateTarget


def check_gates(graph: Graph, report: Report) -> None:
    """Check every gate of a workflow."""
    for name, node in graph.workflow.nodes.items():
        if isinstance(node.target, GateTarget):
            check_gate(node.target, graph.source.node(name) / "gate", report)


def check_gate(gate: GateTarget, location: SourceLocation, report: Report) -> None:
    """Check that the title is a template and that the default answer fits the schema."""
    template = Template(gate.title, fuel=0)
    if template.problem is not None:
        problem = f"the title {shown(gate.title)} is not a valid template: {template.problem}"
        report.error(location / "title", "template_invalid", problem, "write '{{ input.name }}' for what varies")
    if gate.on_timeout != "fail" and gate.schema is not None and gate.approvals == 1:
        found = value_problem(gate.schema, gate.on_timeout)
        if found is not None:
            problem = f"the default answer does not fit the gate's schema: {found[1]}"
            report.error(
                location / "on_timeout", "default_answer_invalid", problem, "write an answer that fits, or 'fail'"
            )
