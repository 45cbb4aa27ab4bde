"""The picture as data: where every box is, and through which points every arrow goes. The same layout as the SVG's."""

import msgspec

from jeton.engine.views.draw.layout import Point, lay_out
from jeton.engine.views.draw.picture import Picture
from jeton.engine.views.draw.svg import LOOP_WIDTH, size_of, trimmed


class GraphNode(msgspec.Struct, frozen=True):
    """A box. `x` and `y` are of its upper left corner."""

    id: str
    kind: str
    detail: str
    initial: bool
    x: float
    y: float
    w: float
    h: float


class GraphEdge(msgspec.Struct, frozen=True):
    """An arrow from border to border. Of a token graph, `id` is the number of its transition."""

    id: int
    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    labels: tuple[str, ...]
    fans_out: bool
    joins: bool
    points: tuple[tuple[float, float], ...]


class GraphView(msgspec.Struct, frozen=True):
    """A workflow or flow as a drawing shows it. An agent has no nodes."""

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    width: float = 0
    height: float = 0


def as_graph(picture: Picture) -> GraphView:
    """Lay out a picture. Arrows from or to boxes that are not there are left out."""
    sizes = {box.name: size_of(box) for box in picture.boxes}
    arrows = [
        (number, arrow)
        for number, arrow in enumerate(picture.arrows)
        if arrow.source in sizes and arrow.target in sizes
    ]
    layout = lay_out(sizes, [(arrow.source, arrow.target) for _, arrow in arrows])
    nodes: list[GraphNode] = []
    for box in picture.boxes:
        (width, height), centre = sizes[box.name], layout.centres[box.name]
        left, top = centre.x - width / 2, centre.y - height / 2
        nodes.append(
            GraphNode(box.name, box.kind, box.detail, box.is_initial, *map(_rounded, (left, top, width, height)))
        )
    edges: list[GraphEdge] = []
    for (number, arrow), route in zip(arrows, layout.routes, strict=True):
        if arrow.source == arrow.target:
            points = _loop(route[0], sizes[arrow.source])
        else:
            points = trimmed(route, sizes[arrow.source][1], sizes[arrow.target][1])
        path = tuple((_rounded(point.x), _rounded(point.y)) for point in points)
        edges.append(GraphEdge(number, arrow.source, arrow.target, arrow.labels, arrow.fans_out, arrow.joins, path))
    width = max((layout.width, *(x for edge in edges for x, _ in edge.points)))
    return GraphView(tuple(nodes), tuple(edges), _rounded(width), _rounded(layout.height))


def _loop(point: Point, size: tuple[float, float]) -> list[Point]:
    """The points that steer the curve of an arrow from a box to itself, at its right side."""
    right, half = point.x + size[0] / 2, size[1] / 4
    across = (right, right + LOOP_WIDTH, right + LOOP_WIDTH, right)
    return [Point(x, point.y + side * half) for x, side in zip(across, (-1, -1, 1, 1), strict=True)]


def _rounded(number: float) -> float:
    return round(number, 1)
