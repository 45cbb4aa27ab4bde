"""Which nodes of a flow are ready, skipped or dead.

A node begins when each of its incoming connections is settled: delivered, dead or failed. Each settled node decrements
the counters of its targets, so the cost follows its connections and not the size of the flow.
"""

from typing import Literal, TypeAlias

from jeton.model.decision import ReopenNodes
from jeton.model.definition.flow import MAIN
from jeton.model.failure import BrokenInvariant, RunError
from jeton.model.state.flow_run import Executed, FlowState, FlowStatus, Settled, SkipReason
from jeton.planning.program.flow import CompiledConnection, CompiledFlowNode, FlowProgram

ConnectionStatus: TypeAlias = Literal["delivered", "dead", "failed"]
"""How a connection is settled."""

_Settlement: TypeAlias = Executed | Literal["failed", "dead"]
"""How a node is settled: it ran, it or a node before it failed, or no branch led to it."""


def start_flow(program: FlowProgram, state: FlowState, fired: str | None = None) -> Settled:
    """The nodes where a run begins: every root, but of several triggers only the one that fired, else the first."""
    triggers = [name for name in program.roots if program.nodes[name].definition.type == "trigger"]
    chosen = fired if fired in triggers else next(iter(triggers), None)
    others = [name for name in triggers if name != chosen]
    spread = _spread(program, state, dict.fromkeys(others, "dead"))
    begun = [name for name in program.roots if name not in others]
    return Settled(_by_position(program, [*begun, *spread.ready]), (*others, *spread.skipped), spread.remaining)


def settle_executed(program: FlowProgram, state: FlowState, node: str, executed: Executed) -> Settled:
    """What follows from a node that ran and whose wait, if any, is over."""
    settled = _spread(program, state, {node: executed})
    dead_end = executed.branch is not None and executed.branch not in program.nodes[node].outgoing
    return Settled(settled.ready, settled.skipped, settled.remaining, dead_end)


def settle_failed(program: FlowProgram, state: FlowState, node: str) -> Settled:
    """What follows from a node that failed; nothing if the run ends with it."""
    return Settled() if program.flow.on_error == "fail" else _spread(program, state, {node: "failed"})


def limit_problem(program: FlowProgram, state: FlowState, node: str) -> RunError | None:
    """The error if a ready node would exceed the limit of nodes; None if it may begin."""
    limit = program.flow.limits.max_nodes
    if state.started < limit:
        return None
    return RunError("limit_exceeded", f"max_nodes: node '{node}' would be node {limit + 1} of this run", node)


def status_of(program: FlowProgram, state: FlowState) -> FlowStatus:
    """The status of the run. Errors alone decide how it ends, because a failure skips nodes only after an error."""
    if state.errors and program.flow.on_error == "fail":
        return "failed"
    if len(state.executed) + len(state.skipped) + len(state.errors) < len(program.nodes):
        return "running"
    return "failed" if state.errors else "completed"


def skip_reason(program: FlowProgram, state: FlowState, node: str) -> SkipReason:
    """Why a node was skipped: a node before it failed, or no branch led to it."""
    return "upstream_failure" if _is_blocked(program, state, node) else "branch_not_taken"


def remaining_of(program: FlowProgram, state: FlowState) -> dict[str, int]:
    """The counters of unsettled connections, computed from the other tables."""
    counted: dict[str, int] = {}
    for name in (*state.executed, *state.errors, *state.skipped):
        for connection in program.nodes[name].leaving:
            left = counted.get(connection.target, len(program.nodes[connection.target].incoming)) - 1
            counted[connection.target] = left
    return {name: left for name, left in counted.items() if left}


def reopened(program: FlowProgram, state: FlowState) -> ReopenNodes | None:
    """The nodes to reset for a retry: the failed ones, and all behind them.

    What ran in spite of a failure is reset too: it is given something else if the node succeeds now."""
    if not state.errors:
        return None
    behind: dict[str, None] = {}
    found = list(state.errors)
    for name in found:
        targets = {connection.target: None for connection in program.nodes[name].leaving}
        found += [target for target in targets if target not in behind and target not in state.errors]
        behind.update(targets)
    reset = {*state.errors, *behind}
    kept = FlowState()
    kept.executed = {name: executed for name, executed in state.executed.items() if name not in reset}
    kept.skipped = {name: None for name in state.skipped if name not in reset}
    counted = remaining_of(program, kept)
    begun = [name for name in behind if state.began(name)]
    return ReopenNodes(
        failed=_by_position(program, [name for name in state.errors if name not in behind]),
        skipped=_by_position(program, [name for name in behind if name in state.skipped]),
        remaining={name: counted.get(name, len(program.nodes[name].incoming)) for name in sorted(behind)},
        begun=_by_position(program, begun),
    )


def connection_status(program: FlowProgram, state: FlowState, connection: CompiledConnection) -> ConnectionStatus:
    """The status of a connection whose source is settled."""
    return _status_by(_settlement_of(program, state, connection.source), connection)


def is_live(executed: Executed, handle: str) -> bool:
    """Whether a node that ran delivers by a handle: the branch it chose, else `main` and its outputs."""
    if executed.branch is not None:
        return handle == executed.branch
    return handle == MAIN or handle in executed.outputs


def _status_by(settlement: _Settlement, connection: CompiledConnection) -> ConnectionStatus:
    if isinstance(settlement, Executed):
        return "delivered" if is_live(settlement, connection.from_output) else "dead"
    return settlement


def _settlement_of(program: FlowProgram, state: FlowState, node: str) -> _Settlement:
    if node in state.executed:
        return state.executed[node]
    if node in state.errors:
        return "failed"
    if node in state.skipped:
        return "failed" if _is_blocked(program, state, node) else "dead"
    raise BrokenInvariant("a node was settled before its sources", node=node)


def _spread(program: FlowProgram, state: FlowState, settlements: dict[str, _Settlement]) -> Settled:
    """Decrement the counters of the targets of these nodes, and of nodes that are skipped in turn."""
    remaining: dict[str, int] = {}
    ready: list[str] = []
    skipped: list[str] = []
    settlements = dict(settlements)
    waiting = list(settlements)
    for node in waiting:
        for connection in program.nodes[node].leaving:
            target = program.nodes[connection.target]
            before = remaining.get(target.name, state.remaining.get(target.name, len(target.incoming)))
            remaining[target.name] = before - 1
            if before > 1:
                continue
            decided = _decided(program, state, settlements, target)
            if decided is None:
                ready.append(target.name)
            else:
                settlements[target.name] = decided
                skipped.append(target.name)
                waiting.append(target.name)
    left = {name: count for name, count in remaining.items() if count}
    return Settled(_by_position(program, ready), tuple(skipped), left)


def _decided(
    program: FlowProgram, state: FlowState, settlements: dict[str, _Settlement], node: CompiledFlowNode
) -> Literal["failed", "dead"] | None:
    """Why a node whose connections are all settled is skipped; None if it may begin."""
    run_when = node.definition.run_when
    if run_when == "settled":
        return None
    delivered = failed = False
    for connection in node.incoming:
        known = settlements.get(connection.source)
        status = _status_by(_settlement_of(program, state, connection.source) if known is None else known, connection)
        if status == "failed":
            if run_when == "all":
                return "failed"
            failed = True
        delivered = delivered or status == "delivered"
    if delivered:
        return None
    return "failed" if failed else "dead"


def _is_blocked(program: FlowProgram, state: FlowState, node: str) -> bool:
    """Whether a node was skipped because of a failure. Cached for every node on the way."""
    asked = [] if node in state.blocked else [node]
    while asked:
        name = asked[-1]
        sources = [connection.source for connection in program.nodes[name].incoming]
        open_sources = [each for each in sources if each in state.skipped and each not in state.blocked]
        if any(each in state.errors or state.blocked.get(each) for each in sources):
            state.blocked[name] = True
        elif open_sources:
            asked.append(open_sources[0])
            continue
        else:
            state.blocked[name] = False
        asked.pop()
    return state.blocked[node]


def _by_position(program: FlowProgram, names: list[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: program.nodes[name].position))
