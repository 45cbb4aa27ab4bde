"""Checks of handles: what nodes of a flow take by input handle, and what they give by output handle."""

from jeton.definitions.checks.definitions import Definitions, name_referred_to
from jeton.definitions.checks.schemas import PathNotAllowed, below
from jeton.definitions.checks.types import input_of_task, output_of_task
from jeton.definitions.read.flow import FlowSource
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, did_you_mean, shown
from jeton.expression.typing.schemas import CLOSED
from jeton.model.definition.flow import BUILT_IN_TYPES, CONTROL_KEYS, ERROR, MAIN, Flow, FlowNode
from jeton.model.definition.task import Step, Task
from jeton.model.json import Schema

NUMBER: Schema = {"type": "number"}


def check_handles(source: FlowSource, definitions: Definitions, report: Report) -> None:
    """Report input handles that a node does not have, and warn of connections from handles that a node never gives."""
    for name, node in source.flow.nodes.items():
        for handle, location in _given_handles(source, name):
            found = input_problem(name, node, handle, definitions)
            if found is not None:
                report.error(location, "unknown_handle", *found)
    made = {name: produced(source.flow, name, definitions) for name in source.flow.nodes}
    for index, connection in enumerate(source.flow.connections):
        handles_made = made[connection.source]
        if handles_made is not None and connection.from_output not in handles_made:
            kind = source.flow.nodes[connection.source].type
            problem = f"{shown(connection.source)} never produces {shown(connection.from_output)}: it is a '{kind}'"
            remedy = did_you_mean(connection.from_output, handles_made, "remove the connection")
            location = source.connection(index)
            report.warning(location / "from_output", "handle_without_output", problem, remedy)


def _given_handles(source: FlowSource, name: str) -> list[tuple[str, SourceLocation]]:
    """The input handles that a definition uses of a node, each where it is written."""
    node, location = source.flow.nodes[name], source.node(name)
    found = [(handle, location / "inputs" / handle) for handle in node.inputs]
    found += [(handle, location / "repeated" / index) for index, handle in enumerate(node.repeated)]
    for index, connection in enumerate(source.flow.connections):
        if connection.target == name:
            found.append((connection.to_input, source.connection(index) / "to_input"))
    return found


def input_problem(name: str, node: FlowNode, handle: str, definitions: Definitions) -> tuple[str, str] | None:
    """The problem and the remedy of an input handle that the node does not have; None if it has it.

    Every node has `main`, which may say no more than that it runs after another."""
    schema = inputs_schema(node, definitions) or {}
    if handle == MAIN or not isinstance(below(schema, [handle]), PathNotAllowed):
        return None
    properties = schema.get("properties")
    known = tuple(properties) if isinstance(properties, dict) else ()
    return f"{shown(name)} has no input handle {shown(handle)}", did_you_mean(handle, (*known, MAIN), "remove it")


def inputs_schema(node: FlowNode, definitions: Definitions) -> Schema | None:
    """The schema of a node's inputs by handle; None if it takes any."""
    match node.type:
        case "constant":
            return _closed(value={})
        case "sum":
            return _closed(values={"type": "array", "items": NUMBER})
        case "add" | "subtract" | "multiply" | "divide":
            return _closed(a=NUMBER, b=NUMBER)
        case "workflow":
            return _called_inputs(node, definitions)
        case _:
            task = task_of(node, definitions)
            return None if task is None else input_of_task(task, definitions)


def _closed(**properties: Schema) -> Schema:
    return {"type": "object", "properties": dict(properties), "required": [*properties], CLOSED: True}


def _called_inputs(node: FlowNode, definitions: Definitions) -> Schema | None:
    called = node.data.get("workflow")
    if not isinstance(called, str):
        return None
    found = definitions.workflows.get(called) or definitions.flows.get(called)
    return None if found is None else found.input_schema


def task_of(node: FlowNode, definitions: Definitions) -> Task | None:
    """The task that a node's type names, or one of the action that it names; None for built-ins and unknown types."""
    if node.type in BUILT_IN_TYPES:
        return None
    name = name_referred_to(node.type)
    if name is None:
        return None
    if name in definitions.tasks:
        return definitions.tasks[name]
    return Task((Step(name, ref=""),)) if name in definitions.actions else None


def produced(flow: Flow, name: str, definitions: Definitions) -> tuple[str, ...] | None:
    """The handles that a node can produce; None if that is known only at run time."""
    node = flow.nodes[name]
    made = _produced(flow, name, node, definitions)
    if made is None or node.on_error is None:
        return made
    return (*made, ERROR) if node.on_error == "route" else (*made, MAIN, *node.on_error.default, ERROR)


def _produced(flow: Flow, name: str, node: FlowNode, definitions: Definitions) -> tuple[str, ...] | None:
    match node.type:
        case "constant":
            return (MAIN, "value")
        case "sum" | "add" | "subtract" | "multiply" | "divide":
            return (MAIN, "result")
        case "template":
            return (MAIN, "text")
        case "set":
            return set_outputs(node)
        case "fail":
            return (MAIN,)
        case "if_else":
            return ("true", "false")
        case "switch":
            return _cases(node)
        case "merge" | "wait" | "wait_until":
            incoming = (each.to_input for each in flow.connections if each.target == name)
            return tuple(dict.fromkeys((MAIN, *node.inputs, *incoming)))
        case _:
            task = task_of(node, definitions)
            return None if task is None else _typed_outputs(output_of_task(task, definitions))


def set_outputs(node: FlowNode) -> tuple[str, ...] | None:
    """The handles of a `set`; None if it may choose a branch."""
    return None if any(key in node.data for key in CONTROL_KEYS) else (MAIN, *node.data)


def _cases(node: FlowNode) -> tuple[str, ...] | None:
    cases = node.data.get("cases")
    return (*(str(case) for case in cases), "default") if isinstance(cases, list) else None


def _typed_outputs(schema: Schema) -> tuple[str, ...] | None:
    """The fields of a result whose schema is closed. One that chooses a branch may choose any."""
    properties = schema.get("properties")
    closed = CLOSED in schema or schema.get("additionalProperties") is False
    if not closed or not isinstance(properties, dict) or any(key in properties for key in CONTROL_KEYS):
        return None
    return (MAIN, *properties)
