"""Checks of what a flow's nodes are given: literals, required inputs, and connections written twice."""

from jeton.definitions.check_schema import value_problem
from jeton.definitions.checks.definitions import Definitions
from jeton.definitions.checks.flow.handles import inputs_schema, task_of
from jeton.definitions.checks.schemas import PathNotAllowed, below
from jeton.definitions.read.flow import FlowSource
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, shown
from jeton.model.definition.flow import MAIN, Connection, FlowNode
from jeton.model.json import Json, Schema
from jeton.model.times import time_in


def check_inputs(source: FlowSource, definitions: Definitions, report: Report) -> None:
    """Report literals of the wrong type and connections written twice, and warn of required inputs nobody gives."""
    for name, node in source.flow.nodes.items():
        schema = inputs_schema(node, definitions)
        for handle, value in node.inputs.items():
            _check_literal(node, handle, value, schema, source.node(name) / "inputs" / handle, report)
        if source.whole:
            _check_required(source, name, definitions, report)
    _check_twice(source, report)


def _check_literal(
    node: FlowNode, handle: str, value: Json, schema: Schema | None, location: SourceLocation, report: Report
) -> None:
    """Check one literal. Null counts as not given."""
    if value is None:
        return
    match node.type, handle:
        case "wait", "seconds":
            expected: Schema | PathNotAllowed = {"type": "number", "exclusiveMinimum": 0}
        case "wait_until", "timestamp":
            expected = {"type": "string"}
            written = time_in(value) if isinstance(value, str) else None
            if isinstance(value, str) and (written is None or written.tzinfo is None):
                problem = f"{shown(value)} is no RFC 3339 time with a zone"
                report.error(location, "wrong_type", problem, "write one, such as '2030-01-31T12:00:00Z'")
                return
        case "template", "template":
            expected = {"type": "string"}
        case _:
            expected = below(schema or {}, [handle])
    found = None if isinstance(expected, PathNotAllowed) else value_problem(expected, value)
    if found is not None:
        path, reason = found
        remedy = f"write a literal, not an expression, that the input {shown(handle)} of '{node.type}' takes"
        report.error(location.at(path), "wrong_type", reason, remedy)


def _check_required(source: FlowSource, name: str, definitions: Definitions, report: Report) -> None:
    """Warn of inputs that are required and given by nothing. Not an error, because a run may be given them."""
    node = source.flow.nodes[name]
    given = {handle for handle, value in node.inputs.items() if value is not None}
    given.update(each.to_input for each in source.flow.connections if each.target == name)
    if given == {MAIN} and _takes_main_whole(node, definitions):
        return
    missing = [handle for handle in _required(node, definitions) if handle not in given]
    if missing:
        handles = " and ".join(f"'{handle}'" for handle in missing)
        problem = f"nothing gives {handles}, so the node fails unless the run does"
        remedy = f"add 'inputs: {{{missing[0]}: …}}', or a connection with 'to_input: {missing[0]}'"
        report.warning(source.node(name), "input_not_given", problem, remedy)


def _required(node: FlowNode, definitions: Definitions) -> tuple[str, ...]:
    if node.type == "constant":
        return () if "value" in node.data else ("value",)
    required = (inputs_schema(node, definitions) or {}).get("required")
    return tuple(each for each in required if isinstance(each, str)) if isinstance(required, list) else ()


def _takes_main_whole(node: FlowNode, definitions: Definitions) -> bool:
    """Whether an object that comes in on `main` alone is the whole input. A Python node is given it as `main`."""
    if node.type == "workflow":
        return True
    task = task_of(node, definitions)
    action = None if task is None or len(task.steps) != 1 else definitions.action(task.steps[0].action)
    return task is not None and (action is None or action.kind != "node")


def _check_twice(source: FlowSource, report: Report) -> None:
    seen: set[Connection] = set()
    for index, connection in enumerate(source.flow.connections):
        if connection in seen:
            problem = f"leads from {shown(connection.source)} to {shown(connection.target)} as an earlier one does"
            report.error(source.connection(index), "duplicate_connection", problem, "remove it, or change a handle")
        seen.add(connection)
