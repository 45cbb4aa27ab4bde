"""What grew and what it did to the cost: a table, and a picture in which a flat line is what one wants."""

from collections.abc import Sequence
from itertools import groupby
from math import log10

import msgspec

from benchmarks.report import number

WIDE, HIGH, GAP = 270, 150, 50
DRAWN = {"message, µs": "#2f6fb0", "W2 node, µs": "#2f6fb0", "W1 p50, ms": "#c9822b"}


class Point(msgspec.Struct, frozen=True):
    """One figure at one size, and its ratio to the same at the smallest: medians of the rounds."""

    panel: str
    size: int
    figure: str
    value: float
    ratio: float


def table(points: Sequence[Point]) -> str:
    """Markdown, a table for each thing that grows: a row a size, each figure with its ratio to the smallest."""
    tables: list[str] = []
    for panel, each in groupby(points, lambda point: point.panel):
        rows: dict[int, dict[str, str]] = {}
        for point in each:
            rows.setdefault(point.size, {})[point.figure] = f"{number(point.value)} (×{point.ratio:.2f})"
        figures = next(iter(rows.values()))
        lines = [f"| {panel} | {' | '.join(figures)} |", f"| ---: |{' ---: |' * len(figures)}"]
        lines += [f"| {size:,} | {' | '.join(row.values())} |" for size, row in rows.items()]
        tables.append("\n".join(lines) + "\n")
    return "\n".join(tables)


def chart(points: Sequence[Point]) -> str:
    """SVG: a panel for each thing that grows; sizes to the right, by powers of ten, and the ratio upwards."""
    drawn = [point for point in points if point.figure in DRAWN]
    top = max([2.0, *(point.ratio * 1.1 for point in drawn)])
    panels = [_panel(list(each), top) for _, each in groupby(drawn, lambda point: point.panel)]
    placed = [
        f'<g transform="translate({GAP + place % 2 * (WIDE + GAP)} {GAP + place // 2 * (HIGH + 2 * GAP)})">{panel}</g>'
        for place, panel in enumerate(panels)
    ]
    width, height = GAP + 2 * (WIDE + GAP), -(-len(panels) // 2) * (HIGH + 2 * GAP)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="11" fill="#333">{"".join(placed)}</svg>\n'
    )


def _panel(points: Sequence[Point], top: float) -> str:
    sizes = sorted({point.size for point in points})
    left, right = _decade(sizes[0]), max(_decade(sizes[-1]), _decade(sizes[0]) + 1)

    def x(size: int) -> str:
        return f"{(_decade(size) - left) / (right - left) * WIDE:.0f}"

    def y(ratio: float) -> str:
        return f"{HIGH - ratio / top * HIGH:.0f}"

    parts = [
        f'<text x="0" y="-14" font-weight="bold">{points[0].panel}</text>',
        f'<path d="M0 0V{HIGH}H{WIDE}" fill="none" stroke="#888"/>',
        f'<path d="M0 {y(1)}H{WIDE}" stroke="#888" stroke-dasharray="4 3"/>',
        *(f'<text x="-6" y="{y(mark)}" dy="4" text-anchor="end">{mark}</text>' for mark in (0, 1, 2)),
        *(f'<text x="{x(size)}" y="{HIGH + 16}" text-anchor="middle">{size:,}</text>' for size in sizes),
    ]
    for place, figure in enumerate(dict.fromkeys(point.figure for point in points)):
        line = [f"{x(point.size)},{y(point.ratio)}" for point in points if point.figure == figure]
        colour, (name, _, _) = DRAWN[figure], figure.partition(",")
        parts.append(f'<polyline points="{" ".join(line)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for each in line:
            across, _, up = each.partition(",")
            parts.append(f'<circle cx="{across}" cy="{up}" r="3" fill="{colour}"/>')
        parts.append(f'<text x="{WIDE}" y="{12 + 14 * place}" text-anchor="end" fill="{colour}">{name}</text>')
    return "".join(parts)


def _decade(size: int) -> float:
    """Nothing at all stands one decade before a hundred."""
    return log10(max(size, 10))
