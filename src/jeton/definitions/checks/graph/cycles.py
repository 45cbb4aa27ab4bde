"""Cycles in graphs, found in linear time and without recursion."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from jeton.definitions.report import shown


def components(nodes: Iterable[str], steps: Mapping[str, Sequence[str]]) -> list[frozenset[str]]:
    """The strongly connected components (Tarjan) that contain a cycle."""
    found: list[frozenset[str]] = []
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_nodes: list[str] = []
    is_open: set[str] = set()
    for start in nodes:
        if start in order:
            continue
        walk: list[tuple[str, int]] = [(start, -1)]
        while walk:
            node, position = walk.pop()
            if position < 0:
                position = 0
                order[node] = lowest[node] = len(order)
                open_nodes.append(node)
                is_open.add(node)
            targets = steps.get(node, ())
            while position < len(targets) and targets[position] in order:
                if targets[position] in is_open:
                    lowest[node] = min(lowest[node], lowest[targets[position]])
                position += 1
            if position < len(targets):
                walk += [(node, position), (targets[position], -1)]
            elif lowest[node] == order[node]:
                found.append(_closed(node, open_nodes, is_open))
    return [each for each in found if len(each) > 1 or next(iter(each)) in steps.get(next(iter(each)), ())]


def _closed(root: str, open_nodes: list[str], is_open: set[str]) -> frozenset[str]:
    """Remove one complete component from the stack."""
    component: set[str] = set()
    while root not in component:
        node = open_nodes.pop()
        is_open.discard(node)
        component.add(node)
    return frozenset(component)


def shortest_cycle(start: str, within: frozenset[str], steps: Mapping[str, Sequence[str]]) -> list[str]:
    """A shortest cycle from a node of a component: its nodes, each once."""
    before: dict[str, str] = {}
    waiting = [start]
    for node in waiting:
        for target in steps.get(node, ()):
            if target == start:
                way = [node]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return way[::-1]
            if target in within and target not in before:
                before[target] = node
                waiting.append(target)
    return [start]


def example_cycles(nodes: Collection[str], steps: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """One cycle for each set of nodes that lead to each other, from the node that is declared first."""
    order = {node: position for position, node in enumerate(nodes)}
    for component in components(nodes, steps):
        yield shortest_cycle(min(component, key=order.__getitem__), component, steps)


def cycle_text(cycle: list[str]) -> str:
    """`a → b → a`."""
    return " → ".join(shown(name).strip("'") for name in [*cycle, cycle[0]])
