"""Decisions about the nodes of a flow: what they change, and the facts they make true."""

from collections.abc import Iterator
from typing import Any

from jeton.apply.draft import Draft
from jeton.apply.rule import no_facts, rule
from jeton.model import decision as d
from jeton.model import event as ev
from jeton.model.failure import BrokenInvariant
from jeton.model.state.phase import WaitingForTimer


def _begin_node(draft: Draft, decision: d.BeginNode) -> None:
    """Mark a node as executing. Each node runs at most once."""
    flow = draft.state.flow
    node = decision.node
    if flow.began(node):
        raise BrokenInvariant("the node of a flow began already", node=node)
    draft.put(flow.executing, node, None)
    draft.touched.rest.nodes.add(node)


def _hold_node(draft: Draft, decision: d.HoldNode) -> None:
    """Keep a node's result until its wait is over."""
    token, flow = draft.token(decision.token), draft.state.flow
    draft.drop(flow.executing, decision.node)
    draft.put(flow.waiting, decision.node, decision.held)
    draft.touched.rest.nodes.add(decision.node)
    held = decision.held
    draft.put_token(token.entering(WaitingForTimer(decision.at, held.due, held.label, held.wall)))
    draft.timers.watch_token(held.due, decision.at, token.id, wall=held.wall)


def _execute_node(draft: Draft, decision: d.ExecuteNode) -> None:
    flow = draft.state.flow
    if decision.node in flow.waiting:
        draft.drop(flow.waiting, decision.node)
    else:
        if decision.executed.handled is not None:
            draft.stop_task(draft.token(decision.token))  # it may have timed out
        draft.drop(flow.executing, decision.node)
    draft.put(flow.executed, decision.node, decision.executed)
    draft.touched.rest.nodes.add(decision.node)


def _break_node(draft: Draft, decision: d.BreakNode) -> None:
    flow = draft.state.flow
    draft.stop_task(draft.token(decision.token))
    draft.drop(flow.executing, decision.node)
    draft.put(flow.errors, decision.node, decision.failure)
    draft.touched.rest.nodes.add(decision.node)


def _reopen_nodes(draft: Draft, decision: d.ReopenNodes) -> None:
    flow = draft.state.flow
    for node in decision.failed:
        draft.drop(flow.errors, node)
    for node in decision.skipped:
        draft.drop(flow.skipped, node)
        if node in flow.blocked:
            draft.drop(flow.blocked, node)
    tables: list[dict[str, Any]] = [flow.executing, flow.waiting, flow.executed, flow.errors, flow.contexts]
    for node in decision.begun:
        for table in tables:
            if node in table:
                draft.drop(table, node)
    for node, count in decision.remaining.items():
        draft.put(flow.remaining, node, count)
    draft.touched.rest.nodes.update(decision.failed, decision.skipped, decision.begun, decision.remaining)


def _settle_nodes(draft: Draft, decision: d.SettleNodes) -> None:
    flow = draft.state.flow
    for node, count in decision.remaining.items():
        draft.put(flow.remaining, node, count)
    for node in decision.skipped:
        draft.put(flow.skipped, node, None)
    for node in (*decision.skipped, *decision.ready):
        if node in flow.remaining:
            draft.drop(flow.remaining, node)
    draft.touched.rest.nodes.update(decision.skipped, decision.ready, decision.remaining)


def _held(decision: d.HoldNode) -> tuple[ev.Fact, ev.Fact]:
    held = decision.held
    return ev.TokenWaiting(decision.token, "timer", due=held.due), ev.TimerSet(decision.token, held.due, held.label)


def _executed(decision: d.ExecuteNode) -> Iterator[ev.Fact]:
    if decision.waited:
        yield ev.TimerFired(decision.token)
    done = decision.executed
    warning = f"nothing leaves by '{done.branch}': the path ends here" if decision.dead_end else None
    yield ev.NodeCompleted(decision.token, decision.node, done.outputs, done.branch, warning, done.handled)


RULES = (
    rule(d.BeginNode, _begin_node, lambda x: (ev.NodeStarted(x.token, x.node),)),
    rule(d.HoldNode, _hold_node, _held, 2),
    rule(d.ExecuteNode, _execute_node, _executed, lambda x: 1 + x.waited),
    rule(d.BreakNode, _break_node, lambda x: (ev.NodeFailed(x.token, x.node, x.failure),)),
    rule(d.ReopenNodes, _reopen_nodes, no_facts, 0),
    rule(d.SettleNodes, _settle_nodes, lambda x: map(ev.NodeSkipped, x.skipped), lambda x: len(x.skipped)),
)
