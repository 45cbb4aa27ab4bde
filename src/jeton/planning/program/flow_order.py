"""The order of a flow's nodes: roots, connections that close a cycle, and a topological order."""

from heapq import heapify, heappop, heappush

import msgspec

from jeton.model.definition.flow import Flow
from jeton.model.failure import BrokenInvariant


class FlowGraph(msgspec.Struct, frozen=True):
    """The order of a flow. Without the ignored connections it has no cycle."""

    roots: tuple[str, ...]  # in declaration order
    ignored: frozenset[int]  # connections that close a cycle
    order: tuple[str, ...]  # topological; among equals, declaration order


def graph_of_flow(flow: Flow) -> FlowGraph:
    """The order of a flow. Raises BrokenInvariant for a cycle in a flow that refuses cycles."""
    ignored = _closing(flow) if flow.cycles == "ignore_back_edges" else frozenset[int]()
    order = _sorted(flow, ignored)
    if len(order) < len(flow.nodes):
        raise BrokenInvariant("the flow has a cycle", flow=flow.name)
    return FlowGraph(_roots(flow, ignored), ignored, order)


def _roots(flow: Flow, ignored: frozenset[int] = frozenset()) -> tuple[str, ...]:
    entered = {each.target for index, each in enumerate(flow.connections) if index not in ignored}
    return tuple(name for name in flow.order if name not in entered)


def _closing(flow: Flow) -> frozenset[int]:
    """The connections that close a cycle: depth first, in declaration order, from the roots.

    A part that no root leads to is walked from its first node.
    """
    outgoing: dict[str, list[int]] = {}
    for index, connection in enumerate(flow.connections):
        outgoing.setdefault(connection.source, []).append(index)
    ignored: set[int] = set()
    seen: set[str] = set()
    for start in (*_roots(flow), *flow.order):
        if start in seen:
            continue
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
    return frozenset(ignored)


def _sorted(flow: Flow, ignored: frozenset[int]) -> tuple[str, ...]:
    """A topological order; among equals, declaration order. Nodes on a cycle are left out."""
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
