"""Runs of flows, as people ask for them and are shown them."""

from collections.abc import Mapping
from typing import TypeAlias, cast

from jeton.actor.advance import LiveRun
from jeton.engine.input import plain_input
from jeton.engine.views.record import RunRecord
from jeton.model.definition.flow import Flow
from jeton.model.definition.workflow import Library, Workflow
from jeton.model.failure import Refused
from jeton.model.json import JsonObject
from jeton.model.state.flow_run import NodeView
from jeton.model.state.run import RunState
from jeton.planning.flow.readiness import node_view
from jeton.planning.program.flow import FlowProgram
from jeton.planning.program.workflow import Program

Overrides: TypeAlias = Mapping[str, Mapping[str, object]]
"""By node and input handle: a value that counts for one run, unless a connection brings another."""


def definition_in(library: Library, name: str) -> Workflow | Flow:
    """Whichever of the two has the name."""
    return library.workflows[name] if name in library.workflows else library.flows[name]


def overrides_in(library: Library, name: str, given: Overrides | None) -> dict[str, JsonObject]:
    """The overrides as plain data. Raises Refused for a node that the flow does not have."""
    definition = definition_in(library, name)
    overrides = _by_node(given)
    if overrides and not isinstance(definition, Flow):
        raise Refused("not_a_flow", f"'{name}' is a workflow, and only nodes of a flow have inputs", "use its input")
    for node in overrides:
        if node not in definition.nodes:
            known = ", ".join(definition.nodes)
            raise Refused("unknown_node", f"flow '{name}' has no node '{node}'", f"it has: {known}")
    return {node: cast("JsonObject", plain_input(dict(inputs))) for node, inputs in overrides.items()}


def _by_node(given: object) -> Overrides:
    """Raises Refused for what is no object of objects; the handles are looked at with their values."""
    nodes: Mapping[object, object] = cast("Mapping[object, object]", given) if isinstance(given, Mapping) else {}
    if not isinstance(given, Mapping | None) or not all(isinstance(inputs, Mapping) for inputs in nodes.values()):
        raise Refused("bad_argument", "'overrides' are objects by node", "write {node: {handle: value}}")
    return cast("Overrides", nodes)


def node_views(program: Program, live: LiveRun | None) -> dict[str, NodeView]:
    """The nodes of a run of a flow, each after all that lead to it; a run of a token graph has none."""
    if program.flow is None or live is None:
        return {}
    return {node: shown_node(program.flow, live.state, node) for node in program.flow.order}


def shown_node(program: FlowProgram, state: RunState, node: str) -> NodeView:
    """A node as people are shown it: one that was stopped with its run is where it was before it began."""
    view = node_view(program, state.flow, node)
    return NodeView("idle") if view.status == "executing" and state.head.ended else view


def skipped_of(record: RunRecord) -> tuple[str, ...]:
    """The nodes that were skipped."""
    return tuple(node for node, view in record.nodes.items() if view.status == "skipped")
