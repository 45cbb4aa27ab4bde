"""The nodes of a flow's run, for display."""

from jeton.model.state.flow_run import FlowState, NodeView
from jeton.planning.flow.readiness import connection_status, skip_reason, status_of
from jeton.planning.program.flow import FlowProgram


def node_view(program: FlowProgram, state: FlowState, node: str) -> NodeView:
    """The state of a node, for display. The reason of a skip is derived here and not stored."""
    if node in state.executed:
        return NodeView("completed", outputs=state.executed[node].outputs)
    if node in state.errors:
        return NodeView("failed", error=state.errors[node])
    if node in state.skipped:
        reason, causes = skip_reason(program, state, node), _causes(program, state, node)
        return NodeView("skipped", skip_reason=reason, blocked_by=causes)
    under_way = node in state.executing or node in state.waiting
    return NodeView("executing" if under_way and status_of(program, state) == "running" else "idle")


def _causes(program: FlowProgram, state: FlowState, node: str) -> tuple[str, ...]:
    """The sources that failed, or were skipped because of a failure."""
    failed = (w.source for w in program.nodes[node].incoming if connection_status(program, state, w) == "failed")
    return tuple(dict.fromkeys(failed))
