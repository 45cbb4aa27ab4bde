"""A small layered graph layout.

Arrows that would close a cycle are reversed, every node is placed below its predecessors, long arrows get a bend in
each layer they cross, layers are sorted to reduce crossings, and boxes are moved towards their neighbours.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import msgspec

GAP_X, GAP_Y = 36, 64
BEND_WIDTH = 12
SWEEPS = 8
MOST_BENDS = 20_000  # then arrows are drawn straight: they could have as many as there are layers, each of them


class Point(msgspec.Struct, frozen=True):
    """The middle of a box, or a bend of an arrow."""

    x: float
    y: float


class Layout(msgspec.Struct, frozen=True):
    """`routes` are the points of each arrow from the middle of its source to the middle of its target."""

    width: float
    height: float
    centres: dict[str, Point]
    routes: tuple[tuple[Point, ...], ...]


_Edge = tuple[str, str]
_Vertex = str | tuple[int, int]  # a box, or the bend of an arrow in a layer


def lay_out(sizes: Mapping[str, tuple[float, float]], edges: Sequence[_Edge]) -> Layout:
    """Lay out boxes of these sizes, joined by these edges; the first box is at the top."""
    forward = _acyclic(list(sizes), edges)
    layer_of = _layers(list(sizes), forward)
    layers, chains = _with_bends(sizes, forward, layer_of)
    neighbours = _neighbours(chains)
    _sort(layers, neighbours)
    widths = {vertex: _width(vertex, sizes) for layer in layers for vertex in layer}
    across = _across(layers, neighbours, widths)
    down, height = _down(layers, sizes)
    left = min((across[v] - widths[v] / 2 for v in across), default=0)
    centres = {v: Point(across[v] - left, down[v]) for v in across}
    width = max((centres[v].x + widths[v] / 2 for v in centres), default=0)
    routes: list[tuple[Point, ...]] = []
    for number, (source, target) in enumerate(edges):
        points = tuple(centres[vertex] for vertex in chains[number])
        routes.append(points if forward[number] == (source, target) else points[::-1])
    return Layout(width, height, {name: centres[name] for name in sizes}, tuple(routes))


def _acyclic(names: list[str], edges: Sequence[_Edge]) -> list[_Edge]:
    """The edges, with those that close a cycle reversed."""
    ways: dict[str, list[str]] = {name: [] for name in names}
    for source, target in edges:
        ways[source].append(target)
    done: set[str] = set()
    turned: set[_Edge] = set()
    for first in names:
        if first in done:
            continue
        trail = {first: iter(ways[first])}
        while trail:
            here = next(reversed(trail))
            onward = next(trail[here], None)
            if onward is None:
                del trail[here]
                done.add(here)
            elif onward in trail:
                turned.add((here, onward))
            elif onward not in done:
                trail[onward] = iter(ways[onward])
    return [(b, a) if (a, b) in turned else (a, b) for a, b in edges]


def _layers(names: list[str], edges: list[_Edge]) -> dict[str, int]:
    """Each node one layer below its lowest predecessor."""
    waiting = dict.fromkeys(names, 0)
    ways: dict[str, list[str]] = {}
    for source, target in edges:
        if source != target:
            waiting[target] += 1
            ways.setdefault(source, []).append(target)
    layer = dict.fromkeys(names, 0)
    ready = [name for name in names if not waiting[name]]
    for here in ready:  # the list grows during the loop
        for target in ways.get(here, ()):
            layer[target] = max(layer[target], layer[here] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return layer


def _with_bends(
    sizes: Mapping[str, tuple[float, float]], edges: list[_Edge], layer_of: dict[str, int]
) -> tuple[list[list[_Vertex]], list[list[_Vertex]]]:
    """The layers with a bend for every arrow that crosses one, and each arrow as a chain of neighbours."""
    layers: list[list[_Vertex]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for name in sizes:
        layers[layer_of[name]].append(name)
    chains: list[list[_Vertex]] = []
    left = MOST_BENDS
    for number, (source, target) in enumerate(edges):
        between = range(layer_of[source] + 1, layer_of[target])
        bends: list[_Vertex] = [(number, level) for level in between] if len(between) <= left else []
        left -= len(bends)
        for level, bend in enumerate(bends, layer_of[source] + 1):
            layers[level].append(bend)
        chains.append([source, *bends, target])
    return layers, chains


def _neighbours(chains: list[list[_Vertex]]) -> tuple[dict[_Vertex, list[_Vertex]], dict[_Vertex, list[_Vertex]]]:
    above: dict[_Vertex, list[_Vertex]] = {}
    below: dict[_Vertex, list[_Vertex]] = {}
    for chain in chains:
        for upper, lower in pairwise(chain):
            if upper != lower:
                above.setdefault(lower, []).append(upper)
                below.setdefault(upper, []).append(lower)
    return above, below


def _sort(
    layers: list[list[_Vertex]], neighbours: tuple[dict[_Vertex, list[_Vertex]], dict[_Vertex, list[_Vertex]]]
) -> None:
    """Sort each layer by the mean position of its neighbours, downwards and upwards in turn."""
    above, below = neighbours
    for sweep in range(SWEEPS):
        order, side = (layers, above) if sweep % 2 == 0 else (layers[::-1], below)
        for fixed, moved in pairwise(order):
            place = {vertex: at for at, vertex in enumerate(fixed)}
            here = {vertex: at for at, vertex in enumerate(moved)}
            moved.sort(key=lambda v: _mean([place[n] for n in side.get(v, []) if n in place], here[v]))


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _width(vertex: _Vertex, sizes: Mapping[str, tuple[float, float]]) -> float:
    return sizes[vertex][0] if isinstance(vertex, str) else BEND_WIDTH


def _across(
    layers: list[list[_Vertex]],
    neighbours: tuple[dict[_Vertex, list[_Vertex]], dict[_Vertex, list[_Vertex]]],
    widths: dict[_Vertex, float],
) -> dict[_Vertex, float]:
    """Horizontal positions: packed at first, then pulled towards the neighbours without overlapping."""
    at: dict[_Vertex, float] = {}
    for layer in layers:
        edge = 0.0
        for vertex in layer:
            at[vertex] = edge + widths[vertex] / 2
            edge += widths[vertex] + GAP_X
        for vertex in layer:
            at[vertex] -= (edge - GAP_X) / 2
    for sweep in range(SWEEPS):
        order, side = (layers, neighbours[0]) if sweep % 2 == 0 else (layers[::-1], neighbours[1])
        for layer in order:
            wanted = [_mean([at[n] for n in side.get(vertex, [])], at[vertex]) for vertex in layer]
            for vertex, place in zip(layer, _apart(layer, wanted, widths), strict=True):
                at[vertex] = place
    return at


def _apart(layer: list[_Vertex], wanted: list[float], widths: dict[_Vertex, float]) -> list[float]:
    """The positions nearest to the wanted ones without overlaps: the mean of packing from both sides."""

    def distance(a: int, b: int) -> float:
        return (widths[layer[a]] + widths[layer[b]]) / 2 + GAP_X

    rightwards, leftwards = list(wanted), list(wanted)
    for i in range(1, len(layer)):
        rightwards[i] = max(wanted[i], rightwards[i - 1] + distance(i - 1, i))
    for i in range(len(layer) - 2, -1, -1):
        leftwards[i] = min(wanted[i], leftwards[i + 1] - distance(i, i + 1))
    return [(a + b) / 2 for a, b in zip(rightwards, leftwards, strict=True)]


def _down(layers: list[list[_Vertex]], sizes: Mapping[str, tuple[float, float]]) -> tuple[dict[_Vertex, float], float]:
    at: dict[_Vertex, float] = {}
    edge = 0.0
    for layer in layers:
        height = max((sizes[vertex][1] for vertex in layer if isinstance(vertex, str)), default=0)
        for vertex in layer:
            at[vertex] = edge + height / 2
        edge += height + GAP_Y
    return at, max(edge - GAP_Y, 0)
