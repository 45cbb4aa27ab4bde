"""A compiled flow: connections by node and handle, the order of nodes, and each node's work."""

from typing import TypeAlias

import msgspec

from jeton.expression.mapping import CompiledMapping, compile_mapping
from jeton.expression.schema import SchemaValidator, compile_schema
from jeton.model.definition.flow import PURE_TYPES, Flow, FlowNode
from jeton.model.definition.task import Action, Step, Task
from jeton.model.definition.workflow import AgentTarget, GateTarget, Library, TaskTarget, WorkflowTarget
from jeton.model.reference import name_of
from jeton.planning.flow.builtins import Compute, compile_builtin
from jeton.planning.program.flow_order import graph_of_flow


class TriggerNode(msgspec.Struct, frozen=True):
    """A trigger: it passes the run's input on."""


class BuiltinNode(msgspec.Struct, frozen=True):
    """A built-in that planning computes."""

    compute: Compute


class UnknownNode(msgspec.Struct, frozen=True):
    """An unknown type: the node fails when it runs."""

    type: str


NodeWork: TypeAlias = TriggerNode | BuiltinNode | TaskTarget | GateTarget | WorkflowTarget | AgentTarget | UnknownNode


class CompiledConnection(msgspec.Struct, frozen=True):
    """A connection, with its index in the declaration."""

    index: int
    source: str
    from_output: str
    target: str
    to_input: str


class CompiledFlowNode(msgspec.Struct, frozen=True):
    """A compiled node. Ignored connections are in neither list."""

    name: str
    position: int  # in the topological order
    definition: FlowNode
    work: NodeWork
    incoming: tuple[CompiledConnection, ...]  # as declared
    outgoing: dict[str, tuple[CompiledConnection, ...]]  # by handle, as declared
    repeated: frozenset[str]
    wants_context: bool  # whether it can read a context

    @property
    def leaving(self) -> tuple[CompiledConnection, ...]:
        return tuple(connection for connections in self.outgoing.values() for connection in connections)


class FlowProgram(msgspec.Struct, frozen=True):
    """Everything planning needs to know about a flow."""

    flow: Flow
    nodes: dict[str, CompiledFlowNode]  # in declaration order
    order: tuple[str, ...]
    roots: tuple[str, ...]
    output_mapping: CompiledMapping | None
    output_validator: SchemaValidator | None


def compile_flow(flow: Flow, library: Library) -> FlowProgram:
    """Compile a checked flow. A Python node is an action of the kind `node`, and so a task of one step."""
    graph = graph_of_flow(flow)
    position = {name: at for at, name in enumerate(graph.order)}
    incoming: dict[str, list[CompiledConnection]] = {}
    outgoing: dict[str, dict[str, list[CompiledConnection]]] = {}
    for index, each in enumerate(flow.connections):
        if index not in graph.ignored:
            connection = CompiledConnection(index, each.source, each.from_output, each.target, each.to_input)
            incoming.setdefault(each.target, []).append(connection)
            outgoing.setdefault(each.source, {}).setdefault(each.from_output, []).append(connection)
    nodes = {
        name: CompiledFlowNode(
            name=name,
            position=position[name],
            definition=flow.nodes[name],
            work=_work(name, flow.nodes[name], library),
            incoming=tuple(incoming.get(name, ())),
            outgoing={handle: tuple(connections) for handle, connections in outgoing.get(name, {}).items()},
            repeated=frozenset(flow.nodes[name].repeated),
            wants_context=_wants_context(flow.nodes[name], library),
        )
        for name in flow.order
    }
    mapping = flow.output_mapping
    return FlowProgram(
        flow=flow,
        nodes=nodes,
        order=graph.order,
        roots=graph.roots,
        output_mapping=None if mapping is None else compile_mapping(mapping, ("context", "run")),
        output_validator=compile_schema(flow.output_schema),
    )


def _work(name: str, node: FlowNode, library: Library) -> NodeWork:
    """The work of a node's type. Built-ins come first, so that a new task cannot change the meaning of `sum`."""
    reference = name_of(node.type)
    match node.type:
        case "trigger":
            return TriggerNode()
        case "http" | "llm":
            return TaskTarget(Task((Step(Action(node.type, node.data), ref=name),)))
        case "gate":
            return msgspec.convert({"title": name, **node.data}, GateTarget)
        case "workflow":
            return msgspec.convert(node.data, WorkflowTarget)
        case "agent":
            return msgspec.convert(node.data, AgentTarget)
        case _ if node.type in PURE_TYPES:
            return BuiltinNode(compile_builtin(node))
        case _ if reference in library.tasks:
            return TaskTarget(library.tasks[reference])
        case _ if reference in library.actions:
            return TaskTarget(Task((Step(reference, ref=name),)))
        case _:
            return UnknownNode(node.type)


def _wants_context(node: FlowNode, library: Library) -> bool:
    action = library.actions.get(node.type)
    return node.type == "gate" or (action is not None and action.kind == "node")
