"""The nodes of a flow's run, for display."""

from jeton.model.state.flow_run import FlowState, NodeView, SkipReason
from jeton.planning.flow.node import inputs_of
from jeton.planning.flow.readiness import connection_status, skip_reason, status_of
from jeton.planning.program.flow import FlowProgram


def node_view(program: FlowProgram, state: FlowState, node: str) -> NodeView:
    """The state of a node, for display. Its inputs and the reason of a skip are derived here and not stored."""
    if node in state.skipped:
        reason = skip_reason(program, state, node)
        return NodeView("skipped", skip_reason=reason, blocked_by=_causes(program, state, node, reason))
    if not state.began(node):
        return NodeView("idle")
    inputs = inputs_of(program, state, node)
    if node in state.executed:
        return NodeView("completed", inputs, state.executed[node].outputs)
    if node in state.errors:
        return NodeView("failed", inputs, error=state.errors[node])
    return NodeView("executing", inputs) if status_of(program, state) == "running" else NodeView("idle")


def _causes(program: FlowProgram, state: FlowState, node: str, reason: SkipReason) -> tuple[str, ...]:
    """The sources that failed or were skipped because of a failure; else those that took another branch."""
    wanted = "failed" if reason == "upstream_failure" else "dead"
    found = (each.source for each in program.nodes[node].incoming if connection_status(program, state, each) == wanted)
    return tuple(dict.fromkeys(found))
