"""The picture as SVG, without scripts or external fonts."""

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias
from xml.sax.saxutils import escape

from jeton.engine.views.draw.layout import Layout, Point, lay_out
from jeton.engine.views.draw.palette import PALETTE
from jeton.engine.views.draw.picture import Arrow, Box, Picture

MARGIN = 28
TITLE_HEIGHT = 30
CHARACTER_WIDTH = 7.4
LINE_HEIGHT = 17
MAX_LINE = 34
LOOP_WIDTH = 30
_Area: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom."""
STYLE = (
    "text{font:13px ui-sans-serif,system-ui,sans-serif;fill:#24292f}.name{font-weight:600}"
    ".small{font-size:11px}.label{font-size:11px;fill:#57606a;paint-order:stroke;stroke:#fff;stroke-width:4px}"
    ".arrow{fill:none;stroke:#57606a;stroke-width:1.4}.fan{stroke-width:3}.join{stroke-dasharray:5 4}"
    ".failure{stroke:#b91c1c}.taken{stroke:#15803d;stroke-width:3}"
)
HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" fill="#57606a"/></marker></defs>'
)


def as_svg(picture: Picture) -> str:
    """One self-contained SVG document."""
    sizes = {box.name: size_of(box) for box in picture.boxes}
    layout = lay_out(sizes, [(arrow.source, arrow.target) for arrow in picture.arrows])
    return "\n".join(_document(picture, sizes, layout)) + "\n"


def _document(picture: Picture, sizes: dict[str, tuple[float, float]], layout: Layout) -> Iterator[str]:
    # room for labels and loops, which are to the right of their arrows
    labelled = max((len(_label(arrow)) for arrow in picture.arrows), default=0) * CHARACTER_WIDTH
    width = max(layout.width + labelled, len(picture.title) * CHARACTER_WIDTH * 1.2) + 2 * MARGIN
    taken = [_area(layout.centres[box.name], sizes[box.name]) for box in picture.boxes]
    labels = [
        _arrow_label(arrow, _free_place(arrow, route, sizes, taken))
        for arrow, route in zip(picture.arrows, layout.routes, strict=True)
        if arrow.labels
    ]
    height = max(layout.height, *(area[3] for area in taken), 0) + 2 * MARGIN + TITLE_HEIGHT
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img">'
    )
    yield f"<title>{_escaped(picture.title)}</title><style>{STYLE}</style>{HEAD}"
    yield '<rect width="100%" height="100%" fill="#fff"/>'
    yield f'<text class="name" x="{MARGIN}" y="{MARGIN}">{_escaped(picture.title)}</text>'
    yield f'<g transform="translate({MARGIN} {MARGIN + TITLE_HEIGHT})">'
    for arrow, route in zip(picture.arrows, layout.routes, strict=True):
        yield from _arrow(arrow, route, sizes)
    for box in picture.boxes:
        yield from _box(box, layout.centres[box.name], sizes[box.name])
    yield from labels
    yield "</g></svg>"


def _texts(box: Box) -> list[str]:
    kind = "" if box.kind == "pass" else box.kind
    detail = f"{box.kind}: {box.detail}" if box.detail else kind
    return [_shortened(line) for line in (box.name, detail, box.counts.text) if line]


def size_of(box: Box) -> tuple[float, float]:
    """Width and height of a box."""
    texts = _texts(box)
    return max(60, max(map(len, texts)) * CHARACTER_WIDTH + 24), LINE_HEIGHT * len(texts) + 16


def _box(box: Box, point: Point, size: tuple[float, float]) -> Iterator[str]:
    width, height = size
    colours = PALETTE[box.counts.tone]
    left, top = point.x - width / 2, point.y - height / 2
    radius = height / 2 if box.kind == "pass" else 6
    yield f"<g><title>{_escaped(f'{box.name} {box.kind} {box.detail}'.strip())}</title>"
    yield (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius:.1f}" '
        f'fill="{colours.fill}" stroke="{colours.line}" stroke-width="{2.4 if box.is_initial else 1.4}"/>'
    )
    for number, line in enumerate(_texts(box)):
        y = top + 8 + LINE_HEIGHT * number + 12
        style = "name" if number == 0 else "small"
        yield f'<text class="{style}" x="{point.x:.1f}" y="{y:.1f}" text-anchor="middle">{_escaped(line)}</text>'
    yield "</g>"


def _arrow(arrow: Arrow, route: tuple[Point, ...], sizes: dict[str, tuple[float, float]]) -> Iterator[str]:
    style = f"arrow{' fan' if arrow.fans_out else ''}{' join' if arrow.joins else ''}"
    style += f"{' failure' if arrow.on_failure else ''}{' taken' if arrow.taken else ''}"
    if arrow.source == arrow.target:
        path = _loop(route[0], sizes[arrow.source])
    else:
        path = _curve(trimmed(route, sizes[arrow.source][1], sizes[arrow.target][1]))
    yield f'<path class="{style}" d="{path}" marker-end="url(#head)"/>'


def trimmed(route: tuple[Point, ...], source_height: float, target_height: float) -> list[Point]:
    """The route from border to border, through the sides that face each other."""
    points = list(route)
    down = 1 if points[-1].y >= points[0].y else -1
    points[0] = Point(points[0].x, points[0].y + down * source_height / 2)
    points[-1] = Point(points[-1].x, points[-1].y - down * target_height / 2)
    return points


def _curve(points: list[Point]) -> str:
    path = f"M{points[0].x:.1f} {points[0].y:.1f}"
    for a, b in pairwise(points):
        middle = (a.y + b.y) / 2
        path += f"C{a.x:.1f} {middle:.1f} {b.x:.1f} {middle:.1f} {b.x:.1f} {b.y:.1f}"
    return path


def _loop(point: Point, size: tuple[float, float]) -> str:
    right, half = point.x + size[0] / 2, size[1] / 4
    return (
        f"M{right:.1f} {point.y - half:.1f}C{right + LOOP_WIDTH:.1f} {point.y - half:.1f} "
        f"{right + LOOP_WIDTH:.1f} {point.y + half:.1f} {right:.1f} {point.y + half:.1f}"
    )


def _area(centre: Point, size: tuple[float, float]) -> _Area:
    width, height = size
    return centre.x - width / 2, centre.y - height / 2, centre.x + width / 2, centre.y + height / 2


def _free_place(
    arrow: Arrow, route: tuple[Point, ...], sizes: dict[str, tuple[float, float]], taken: list[_Area]
) -> Point:
    """Where the arrow's label lies over nothing else: along the arrow, else below its middle. Adds it to `taken`."""
    places = list(_places(arrow, route, sizes))
    places += [Point(places[0].x, places[0].y + LINE_HEIGHT * step) for step in range(1, len(taken) + 2)]
    free = (place for place in places if not any(_overlap(_label_area(arrow, place), other) for other in taken))
    found = next(free, places[-1])
    taken.append(_label_area(arrow, found))
    return found


def _label_area(arrow: Arrow, at: Point) -> _Area:
    return at.x - 2, at.y - 11, at.x + len(_label(arrow)) * CHARACTER_WIDTH, at.y + 3


def _places(arrow: Arrow, route: tuple[Point, ...], sizes: dict[str, tuple[float, float]]) -> Iterator[Point]:
    if arrow.source == arrow.target:
        yield Point(route[0].x + sizes[arrow.source][0] / 2 + 28, route[0].y + 4)
        return
    points = trimmed(route, sizes[arrow.source][1], sizes[arrow.target][1])
    # labels of arrows that go up are placed at the end, where the arrows are furthest apart
    a, b = points[-2:] if points[-1].y < points[0].y else points[:2]
    for part in (0.5, 0.7, 0.3, 0.85, 0.15):
        yield Point(a.x + (b.x - a.x) * part + 5, a.y + (b.y - a.y) * part + 4)


def _overlap(one: _Area, other: _Area) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _arrow_label(arrow: Arrow, at: Point) -> str:
    full, text = "; ".join(arrow.labels), _escaped(_label(arrow))
    return f'<text class="label" x="{at.x:.1f}" y="{at.y:.1f}"><title>{_escaped(full)}</title>{text}</text>'


def _label(arrow: Arrow) -> str:
    return _shortened("; ".join(" ".join(label.split()) for label in arrow.labels))


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_LINE else text[: MAX_LINE - 1] + "…"


def _escaped(text: str) -> str:
    """The text without characters that XML forbids, and with its special characters as entities."""
    return escape("".join(c if c.isprintable() else "�" for c in text), {'"': "&quot;"})
