"""Gates: titles that are templates, and answers given in nobody's name."""

from minijinja import Environment, TemplateError

from jeton.definitions.check_schema import value_problem
from jeton.definitions.checks.graph import Graph
from jeton.definitions.report import Report, shown
from jeton.model.workflow import GateTarget


def check_gates(graph: Graph, report: Report) -> None:
    """A title can be rendered, and a default answer is one the gate would accept."""
    for name, node in graph.workflow.nodes.items():
        if not isinstance(node.target, GateTarget):
            continue
        place = graph.source.node(name) / "gate"
        try:
            Environment(undefined_behavior="strict").add_template("title", node.target.title)
        except TemplateError as error:
            problem = f"the title {shown(node.target.title)} is no template: {error.message}"
            report.error(place / "title", "template_invalid", problem, "write '{{ input.name }}' for what varies")
        answer, schema = node.target.on_timeout, node.target.schema
        if answer != "fail" and schema is not None and node.target.approvals == 1:
            found = value_problem(schema, answer)
            if found is not None:
                problem = f"the default answer does not fit the gate's schema: {found[1]}"
                remedy = "write an answer that fits, or 'fail'"
                report.error(place / "on_timeout", "default_answer_invalid", problem, remedy)
