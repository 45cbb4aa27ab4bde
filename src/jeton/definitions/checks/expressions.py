"""Checks of expression types, against the schemas of their variables."""

from collections.abc import Iterator
from datetime import datetime

from jeton.definitions.checks.compiled import CompiledExpressions, CompiledWorkflow
from jeton.definitions.checks.graph.graph import Graph
from jeton.definitions.checks.schemas import excludes
from jeton.definitions.checks.types import Types, WorkflowTypes
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, shown
from jeton.expression import Expression, type_of, type_problems, type_warnings

WORDS = {
    "bool": "true or false",
    "list": "a list",
    "int": "a whole number",
    "double": "a number",
    "string": "an RFC 3339 time as text",
    "id": "the id of a conversation, or null",
}
WAITS = {"seconds": "double", "until": "string"}


def check_expressions(graph: Graph, compiled: CompiledWorkflow, types: WorkflowTypes, report: Report) -> None:
    """Check all expressions of a workflow, but not those of its tasks."""
    source = graph.source
    for name in graph.workflow.nodes:
        location = source.node(name)
        check_mapping(compiled.inputs[name], types.at(name), location / "input_mapping", report)
        check_mapping(compiled.outputs[name], types.after(name), location / "output_mapping", report)
        for key, expression in compiled.waits.get(name, {}).items():
            check_gives(expression, WAITS[key], types.at(name), location / "wait" / key, report)
            _check_constant(expression, location / "wait" / key, report)
        for key, expression in compiled.conversations.get(name, {}).items():
            check_gives(expression, "id", types.at(name), location / "agent" / key, report)
    for expression, wanted, seen, location in _of_transitions(graph, compiled, types):
        check_gives(expression, wanted, seen, location, report)
        if wanted == "int":
            _check_constant(expression, location, report)
    for expression, node, location in compiled.numbers:
        check_gives(expression, "int", types.context if node is None else types.at(node), location, report)
        check_count(expression, location, report)
    check_mapping(compiled.result, types.context, source.location / "output_mapping", report)


def _of_transitions(
    graph: Graph, compiled: CompiledWorkflow, types: WorkflowTypes
) -> Iterator[tuple[Expression, str, Types, SourceLocation]]:
    for index, transition in enumerate(graph.workflow.transitions):
        location = graph.source.transition(index)
        if index in compiled.conditions:
            yield compiled.conditions[index], "bool", types.after(transition.source), location / "condition"
        if index in compiled.collections:
            at = location / "foreach" / "collection"
            yield compiled.collections[index], "list", types.at(transition.source), at
        if index in compiled.counts:
            yield compiled.counts[index], "int", types.at(transition.source), location / "spawn_count"


def check_count(expression: Expression, location: SourceLocation, report: Report) -> None:
    """Check the value of a constant number that must be 1 or more."""
    value = None if expression.reads else expression.evaluate({})
    if isinstance(value, int) and not isinstance(value, bool) and value < 1:
        problem = f"{shown(expression.source)} is {value}, but must be at least 1"
        report.error(location, "out_of_range", problem, "write 1 or more")


def _check_constant(expression: Expression, location: SourceLocation, report: Report) -> None:
    """Check the value of a constant number or time."""
    value = None if expression.reads else expression.evaluate({})
    if isinstance(value, int | float) and value < 0:
        problem = f"{shown(expression.source)} is negative"
        report.error(location, "out_of_range", problem, "write 0 or more")
    if isinstance(value, str) and not _is_time(value):
        problem = f"{shown(value)} is not an RFC 3339 time with a zone"
        report.error(location, "bad_time", problem, "write it like \"'2026-01-31T12:00:00Z'\"")


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def check_mapping(mapping: CompiledExpressions, types: Types, location: SourceLocation, report: Report) -> None:
    """Check the types inside the expressions of a mapping."""
    for target, expression in mapping.items():
        _check_types(expression, types, location / target, report)


def check_gives(expression: Expression, wanted: str, types: Types, location: SourceLocation, report: Report) -> None:
    """Check an expression that must give a certain type: a condition, a collection, a count, a time."""
    if _check_types(expression, types, location, report):
        instead = excludes(type_of(expression, types), wanted)
        if instead is not None:
            problem = f"{shown(expression.source)} gives {instead}, but must give {WORDS[wanted]}"
            report.error(location, "expression_type", problem, f"write an expression that gives {WORDS[wanted]}")


def _check_types(expression: Expression, types: Types, location: SourceLocation, report: Report) -> bool:
    problems = type_problems(expression, types)
    for each in problems:
        problem = f"{shown(expression.source)} at {each.position}: {each.problem}"
        report.error(location, "expression_type", problem, each.remedy)
    for each in type_warnings(expression, types):
        problem = f"{shown(expression.source)} at {each.position}: {each.problem}"
        report.warning(location, "expression_type", problem, each.remedy)
    return not problems
