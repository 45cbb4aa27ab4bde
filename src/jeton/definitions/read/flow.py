"""Flows: plain data into the model, with every connection between existing nodes."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from jeton.definitions.read.fields import Fields, check_name, fields_of, known_node
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, kind, shown
from jeton.model.definition.flow import (
    CONTROL_KEYS,
    DEFAULT_MAX_NODES,
    MAIN,
    Connection,
    Flow,
    FlowLimits,
    FlowNode,
    OnErrorDefault,
)
from jeton.model.definition.task import Action
from jeton.model.json import Json

FLOW_KEYS = (
    "nodes", "connections", "on_error", "cycles", "limits", "input_schema", "output_schema", "output_mapping",
    "timeout_ms", "description", "tags",
)  # fmt: skip
FLOW_NODE_KEYS = ("type", "inputs", "data", "repeated", "on_error", "run_when")
CONNECTION_KEYS = ("from", "from_output", "to", "to_input")
FLOW_HINTS = {
    "name": "remove it: the key above is the name",
    "edges": "write 'connections'",
    "transitions": "write 'connections', or move it to 'workflows:'",
    "initial_node": "remove it: a flow begins at the nodes that nothing leads to",
    "triggers": "write them as a section of the file, each with 'start:'",
}
NODE_HINTS = {"config": "write 'data'", "input_mapping": "write 'inputs', which are literals, or a connection"}
CONNECTION_HINTS = {
    "condition": "lead through an 'if_else' or a 'switch' node",
    "source": "write 'from'",
    "target": "write 'to'",
}
ACTION_TYPES = ("http", "llm")  # their `data` is the implementation of an action of that kind


class FlowSource(msgspec.Struct, frozen=True):
    """A flow, with the location of each part."""

    flow: Flow
    location: SourceLocation
    written_at: tuple[int, ...]  # by connection: its index in the file, where malformed ones count too
    whole: bool  # False: part of the graph could not be read, so checks for missing parts are skipped

    def node(self, name: str) -> SourceLocation:
        return self.location / "nodes" / name

    def connection(self, index: int) -> SourceLocation:
        return self.location / "connections" / self.written_at[index]

    def actions(self) -> Iterator[tuple[str, Action]]:
        """By node: the actions of built-ins, whose implementation is the node's `data`."""
        for name, node in self.flow.nodes.items():
            if node.type in ACTION_TYPES:
                yield name, Action(node.type, node.data)


def read_flow(name: str, value: Json, location: SourceLocation, report: Report) -> FlowSource:
    """Read a flow, as far as it can be read."""
    fields = fields_of(value, location, report, FLOW_KEYS, "a flow", FLOW_HINTS)
    if fields is None:
        return FlowSource(Flow(name, {}), location, (), whole=False)
    fields.require("nodes")
    written = {} if fields.value("nodes") is None else fields.object("nodes") or {}
    nodes = {each: _node(node, fields.location("nodes") / each, report) for each, node in written.items()}
    for each in nodes:
        check_name(each, fields.location("nodes") / each, report)
    connections, written_at, whole = _connections(fields, nodes)
    flow = Flow(
        name=name,
        nodes=nodes,
        declared=tuple(nodes),
        connections=connections,
        on_error=fields.choice("on_error", "continue", "fail"),
        cycles=fields.choice("cycles", "refuse", "ignore_back_edges"),
        limits=_limits(fields),
        input_schema=fields.schema("input_schema"),
        output_schema=fields.schema("output_schema"),
        output_mapping=fields.object("output_mapping"),
        timeout_ms=fields.count("timeout_ms"),
        description=fields.text("description"),
        tags=fields.texts("tags"),
    )
    return FlowSource(flow, location, written_at, whole)


def _node(value: Json, location: SourceLocation, report: Report) -> FlowNode:
    fields = fields_of(value, location, report, FLOW_NODE_KEYS, "a node of a flow", NODE_HINTS)
    if fields is None:
        return FlowNode("")
    fields.require("type")
    repeated, inputs = fields.texts("repeated"), fields.object("inputs") or {}
    for handle in inputs:
        _check_handle(handle, fields.location("inputs") / handle, report)
    for index, handle in enumerate(repeated):
        _check_handle(handle, fields.location("repeated") / index, report)
    return FlowNode(
        type=fields.text("type") or "",
        inputs=inputs,
        data=fields.object("data") or {},
        repeated=repeated,
        on_error=_on_error(fields),
        run_when=fields.choice("run_when", "all", "any", "settled"),
    )


def _on_error(fields: Fields) -> Literal["route"] | OnErrorDefault | None:
    """Read `route` or `{default: outputs}`. A default may choose a branch, but not wait."""
    written = fields.value("on_error")
    if written is None or written == "route":
        return None if written is None else "route"
    if not isinstance(written, dict):
        problem = f"is {kind(written)}, which a node cannot say"
        remedy = "write 'route' or '{default: {…}}'; 'continue' and 'fail' are for the whole flow"
        fields.report.error(fields.location("on_error"), "unknown_value", problem, remedy)
        return None
    inner = fields.inner("on_error", ("default",), "'on_error' of a node")
    default = inner.object("default") if inner is not None and inner.require("default") else None
    if inner is None or default is None:
        return None
    location, report = inner.location("default"), fields.report
    for key in default:
        if key in CONTROL_KEYS and key != "_branch":
            problem = f"{shown(key)} is a control key, and outputs after a failure cannot wait"
            report.error(location / key, "reserved_handle", problem, "lead to a 'wait' node")
    branch = default.get("_branch", MAIN)
    if not isinstance(branch, str) or not branch:
        problem = f"is {kind(branch)}, but must be the name of a handle"
        report.error(location / "_branch", "wrong_type", problem, "put it in quotes")
    return OnErrorDefault(default)


def _connections(fields: Fields, nodes: dict[str, FlowNode]) -> tuple[tuple[Connection, ...], tuple[int, ...], bool]:
    location, report = fields.location("connections"), fields.report
    found: list[Connection] = []
    written_at: list[int] = []
    written = [] if fields.value("connections") is None else fields.list("connections")
    whole = isinstance(fields.value("nodes", {}), dict | None) and written is not None and not fields.unknown
    for index, value in enumerate(written or []):
        connection = _connection(value, nodes, location / index, report)
        if connection is None:
            whole = False
            continue
        found.append(connection)
        written_at.append(index)
    return tuple(found), tuple(written_at), whole


def _connection(value: Json, nodes: dict[str, FlowNode], location: SourceLocation, report: Report) -> Connection | None:
    fields = fields_of(value, location, report, CONNECTION_KEYS, "a connection", CONNECTION_HINTS)
    if fields is None or not fields.require("from", "to"):
        return None
    source = known_node(fields.text("from"), nodes, fields.location("from"), "leads from", fields.report)
    target = known_node(fields.text("to"), nodes, fields.location("to"), "leads to", fields.report)
    from_output, to_input = _handle(fields, "from_output"), _handle(fields, "to_input")
    if source is None or target is None:
        return None
    return Connection(source, target, from_output, to_input)


def _handle(fields: Fields, key: str) -> str:
    """Read a handle. `true` and `false` are taken as text, for the handles of `if_else`."""
    match fields.value(key):
        case True:
            return "true"
        case False:
            return "false"
        case _:
            pass
    handle = fields.text(key)
    if handle is not None:
        _check_handle(handle, fields.location(key), fields.report)
    return handle or MAIN


def _check_handle(handle: str, location: SourceLocation, report: Report) -> None:
    if handle in CONTROL_KEYS:
        problem = f"{shown(handle)} is a control key, which is removed from results"
        report.error(location, "reserved_handle", problem, "give the handle another name")


def _limits(fields: Fields) -> FlowLimits:
    inner = fields.inner("limits", ("max_nodes",), "'limits'")
    if inner is None:
        return FlowLimits()
    return FlowLimits(max_nodes=inner.integer("max_nodes", at_least=1) or DEFAULT_MAX_NODES)
