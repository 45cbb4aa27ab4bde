"""Why each node of a flow ran, waits or was skipped."""

from jeton.engine.views.explain.views import IncomingConnection, NodeExplained
from jeton.engine.views.flows import shown_node
from jeton.model.state.flow_run import FlowState
from jeton.model.state.run import RunState
from jeton.planning.flow.readiness import connection_status
from jeton.planning.program.flow import CompiledConnection, FlowProgram


def nodes_explained(program: FlowProgram, run: RunState) -> tuple[NodeExplained, ...]:
    """All nodes, in topological order."""
    return tuple(_node(program, run, node) for node in program.order)


def _node(program: FlowProgram, run: RunState, node: str) -> NodeExplained:
    view, state = shown_node(program, run, node), run.flow
    executed = state.executed.get(node)
    handled = None if executed is None else executed.handled
    return NodeExplained(
        node=node,
        status=view.status,
        inputs=view.inputs,
        branch=None if executed is None else executed.branch,
        skip_reason=view.skip_reason,
        blocked_by=view.blocked_by,
        incoming=tuple(_incoming(program, state, wire) for wire in program.nodes[node].incoming),
        error=None if view.error is None else f"{view.error.type}: {view.error.message}",
        handled=None if handled is None else f"{handled.type}: {handled.message}",
    )


def _incoming(program: FlowProgram, state: FlowState, wire: CompiledConnection) -> IncomingConnection:
    settled = wire.source in state.executed or wire.source in state.errors or wire.source in state.skipped
    status = connection_status(program, state, wire) if settled else "open"
    return IncomingConnection(wire.source, wire.from_output, wire.to_input, status)
