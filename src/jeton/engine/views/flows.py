"""Runs of flows: overrides of node inputs, and the status of nodes."""

from collections.abc import Mapping
from typing import TypeAlias, cast

from jeton.actor.advance import LiveRun
from jeton.definitions.checks.definitions import definitions_in
from jeton.definitions.report import did_you_mean
from jeton.engine.input import plain_input
from jeton.engine.views.record import RunRecord
from jeton.model.definition.flow import Flow
from jeton.model.definition.workflow import Library, Workflow
from jeton.model.failure import Refused
from jeton.model.json import JsonObject
from jeton.model.state.flow_run import NodeView
from jeton.model.state.run import RunState
from jeton.planning.flow.view import node_view
from jeton.planning.program.flow import FlowProgram
from jeton.planning.program.workflow import Program

Overrides: TypeAlias = Mapping[str, Mapping[str, object]]
"""By node and input handle: a value for one run, used unless a connection delivers one."""


def definition_in(library: Library, name: str) -> Workflow | Flow:
    """The workflow or flow of this name."""
    return library.workflows[name] if name in library.workflows else library.flows[name]


def overrides_in(library: Library, name: str, given: Overrides | None) -> dict[str, JsonObject]:
    """The overrides as plain data. Raises Refused for an unknown node or handle, or if this is not a flow."""
    definition = definition_in(library, name)
    overrides = _by_node(given)
    if not overrides:
        return {}
    if not isinstance(definition, Flow):
        raise Refused("not_a_flow", f"'{name}' is a workflow, and only nodes of flows have inputs", "use its input")
    definitions = definitions_in(library)
    for node, inputs in overrides.items():
        if node not in definition.nodes:
            remedy = did_you_mean(node, definition.nodes, "leave it out")
            raise Refused("unknown_node", f"flow '{name}' has no node '{node}'", remedy)
        for handle in inputs:
            from jeton.definitions.checks.flow.handles import input_problem

            found = input_problem(node, definition.nodes[node], handle, definitions)
            if found is not None:
                raise Refused("unknown_handle", *found)
    return {node: cast("JsonObject", plain_input(dict(inputs))) for node, inputs in overrides.items()}


def _by_node(given: object) -> Overrides:
    """The overrides by node. Raises Refused if they are not a mapping of mappings."""
    nodes: Mapping[object, object] = cast("Mapping[object, object]", given) if isinstance(given, Mapping) else {}
    if not isinstance(given, Mapping | None) or not all(isinstance(inputs, Mapping) for inputs in nodes.values()):
        raise Refused("bad_argument", "'overrides' must be a mapping by node", "write {node: {handle: value}}")
    return cast("Overrides", nodes)


def node_views(program: Program, live: LiveRun | None) -> dict[str, NodeView]:
    """The nodes of a flow's run, in topological order; empty for a token graph."""
    if program.flow is None or live is None:
        return {}
    return {node: shown_node(program.flow, live.state, node) for node in program.flow.order}


def shown_node(program: FlowProgram, state: RunState, node: str) -> NodeView:
    """The status of a node. One that was executing when its run was stopped is idle."""
    view = node_view(program, state.flow, node)
    return NodeView("idle") if view.status == "executing" and state.head.ended else view


def skipped_of(record: RunRecord) -> tuple[str, ...]:
    """The nodes that were skipped."""
    return tuple(node for node, view in record.nodes.items() if view.status == "skipped")
