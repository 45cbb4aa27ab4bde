"""In which order a flow is walked: where it begins, which connections close a cycle, and what comes after what."""

from heapq import heapify, heappop, heappush

import msgspec

from jeton.model.failure import BrokenInvariant
from jeton.model.flow import Flow


class FlowGraph(msgspec.Struct, frozen=True):
    """The walk of a flow. Without the ignored connections it has no cycle, and only the roots have nothing before."""

    roots: tuple[str, ...]  # in declaration order
    ignored: frozenset[int]  # connections that close a cycle
    order: tuple[str, ...]  # every node after all that lead to it; among equals, as declared


def graph_of_flow(flow: Flow) -> FlowGraph:
    """The walk; where cycles are refused there is none, or the flow should never have come here."""
    entered = {connection.target for connection in flow.connections}
    roots = [name for name in flow.order if name not in entered]
    ignored: frozenset[int] = frozenset()
    if flow.cycles == "ignore_back_edges":
        roots, ignored = _walk(flow, roots)
    order = _sorted(flow, ignored)
    if len(order) < len(flow.nodes):
        raise BrokenInvariant("a flow with a cycle was not refused", flow=flow.name)
    position = {name: at for at, name in enumerate(flow.order)}
    return FlowGraph(tuple(sorted(roots, key=position.__getitem__)), ignored, order)


def _walk(flow: Flow, roots: list[str]) -> tuple[list[str], frozenset[int]]:
    """Depth first, in declaration order. A part that no root leads to is begun at its first node, like a whole flow."""
    outgoing: dict[str, list[int]] = {}
    for index, connection in enumerate(flow.connections):
        outgoing.setdefault(connection.source, []).append(index)
    starts: list[str] = []
    ignored: set[int] = set()
    seen: set[str] = set()
    for start in (*roots, *flow.order):
        if start in seen:
            continue
        starts.append(start)
        seen.add(start)
        on_the_way = {start}
        walk = [(start, iter(outgoing.get(start, ())))]
        while walk:
            node, rest = walk[-1]
            step = next(rest, None)
            if step is None:
                on_the_way.discard(node)
                walk.pop()
                continue
            target = flow.connections[step].target
            if target in on_the_way:
                ignored.add(step)
            elif target not in seen:
                seen.add(target)
                on_the_way.add(target)
                walk.append((target, iter(outgoing.get(target, ()))))
    return starts, frozenset(ignored)


def _sorted(flow: Flow, ignored: frozenset[int]) -> tuple[str, ...]:
    """Topological; of several that could come next, the one declared first. Nodes on a cycle are left out."""
    position = {name: at for at, name in enumerate(flow.order)}
    before = dict.fromkeys(flow.order, 0)
    after: dict[str, list[str]] = {}
    for index, connection in enumerate(flow.connections):
        if index not in ignored:
            before[connection.target] += 1
            after.setdefault(connection.source, []).append(connection.target)
    possible = [position[name] for name, count in before.items() if not count]
    heapify(possible)
    order: list[str] = []
    while possible:
        name = flow.order[heappop(possible)]
        order.append(name)
        for target in after.get(name, ()):
            before[target] -= 1
            if not before[target]:
                heappush(possible, position[target])
    return tuple(order)
