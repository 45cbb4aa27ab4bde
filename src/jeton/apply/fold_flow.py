"""What decisions about the nodes of a flow do to a run."""

from jeton.apply.draft import Draft
from jeton.model.decision import BeginNode, BreakNode, ExecuteNode, HoldNode, ReopenNodes, SettleNodes
from jeton.model.failure import BrokenInvariant
from jeton.model.state.run import WaitingForTimer


def begin_node(draft: Draft, decision: BeginNode) -> None:
    """Each node runs at most once."""
    flow = draft.state.flow
    node = decision.node
    if node in flow.executing or node in flow.executed or node in flow.errors or node in flow.waiting:
        raise BrokenInvariant("a node of a flow runs once", node=node)
    draft.put(flow.executing, node, None)
    draft.touched.rest.nodes.add(node)


def hold_node(draft: Draft, decision: HoldNode) -> None:
    """Its result is kept until the wait is over."""
    token, flow = draft.token(decision.token), draft.state.flow
    draft.drop(flow.executing, decision.node)
    draft.put(flow.waiting, decision.node, decision.held)
    draft.touched.rest.nodes.add(decision.node)
    draft.put_token(token.entering(WaitingForTimer(decision.at, decision.held.due, decision.held.label)))
    draft.timers.watch_token(decision.held.due, decision.at, token.id)


def execute_node(draft: Draft, decision: ExecuteNode) -> None:
    flow = draft.state.flow
    if decision.node in flow.waiting:
        draft.drop(flow.waiting, decision.node)
    else:
        draft.drop(flow.executing, decision.node)
    draft.put(flow.executed, decision.node, decision.executed)
    draft.touched.rest.nodes.add(decision.node)


def break_node(draft: Draft, decision: BreakNode) -> None:
    flow = draft.state.flow
    draft.stop_task(draft.token(decision.token))
    draft.drop(flow.executing, decision.node)
    draft.put(flow.errors, decision.node, decision.failure)
    draft.touched.rest.nodes.add(decision.node)


def reopen_nodes(draft: Draft, decision: ReopenNodes) -> None:
    flow = draft.state.flow
    for node in decision.failed:
        draft.drop(flow.errors, node)
    for node in decision.skipped:
        draft.drop(flow.skipped, node)
        if node in flow.blocked:
            draft.drop(flow.blocked, node)
    for node, count in decision.remaining.items():
        draft.put(flow.remaining, node, count)
    draft.touched.rest.nodes.update(decision.failed, decision.skipped, decision.remaining)


def settle_nodes(draft: Draft, decision: SettleNodes) -> None:
    flow = draft.state.flow
    for node, count in decision.remaining.items():
        draft.put(flow.remaining, node, count)
    for node in decision.skipped:
        draft.put(flow.skipped, node, None)
    for node in (*decision.skipped, *decision.ready):
        if node in flow.remaining:
            draft.drop(flow.remaining, node)
    draft.touched.rest.nodes.update(decision.skipped, decision.ready, decision.remaining)
