"""Figures as a table, and the ratios among them as a picture."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGE = DOCS / "benchmarks.md"
BAR, ROW, LEFT = 360, 30, 230


class Claim(msgspec.Struct, frozen=True):
    """A figure, what it is compared with, and the ratio it should have: at least, or at most."""

    title: str
    figure: str
    beside: str | None
    wanted: float
    most: bool = False

    def ratio(self, found: dict[str, float]) -> float | None:
        """How it stands to what it is compared with; None if either was not measured."""
        if self.figure not in found or (self.beside is not None and not found.get(self.beside)):
            return None
        return found[self.figure] / (found[self.beside] if self.beside is not None else 1)

    def holds(self, ratio: float) -> bool:
        """Whether it is what it should be."""
        return ratio <= self.wanted if self.most else ratio >= self.wanted


def table(found: dict[str, float], claims: Sequence[Claim]) -> str:
    """Markdown: the claims first, then every figure."""
    lines = ["| | measured | beside | ratio | wanted | |", "| --- | ---: | ---: | ---: | ---: | --- |"]
    for claim in claims:
        ratio = claim.ratio(found)
        if ratio is not None:
            beside = "" if claim.beside is None else number(found[claim.beside])
            wanted = f"{'≤' if claim.most else '≥'} {claim.wanted:.2f}"
            verdict = "yes" if claim.holds(ratio) else "**no**"
            measured = number(found[claim.figure])
            lines.append(f"| {claim.title} | {measured} | {beside} | {ratio:.2f} | {wanted} | {verdict} |")
    lines += ["", "| figure | median |", "| --- | ---: |"]
    lines += [f"| {figure.replace('_', ' ')} | {number(value)} |" for figure, value in sorted(found.items())]
    return "\n".join(lines) + "\n"


def chart(found: dict[str, float], claims: Sequence[Claim]) -> str:
    """SVG: one bar a claim; where it crosses the line it is what it should be."""
    rows: list[str] = []
    for claim in claims:
        ratio = claim.ratio(found)
        if ratio is None or ratio <= 0:
            continue
        share = claim.wanted / ratio if claim.most else ratio / claim.wanted
        y = 20 + ROW * len(rows)
        colour = "#2f9e63" if claim.holds(ratio) else "#d1495b"
        width = min(share, 3) * BAR / 3
        rows.append(
            f'<text x="{LEFT - 10}" y="{y + 14}" text-anchor="end">{claim.title}</text>'
            f'<rect x="{LEFT}" y="{y}" width="{width:.0f}" height="18" rx="3" fill="{colour}"/>'
            f'<text x="{LEFT + width + 6:.0f}" y="{y + 14}">{share:.2f}</text>'
        )
    height, line = 40 + ROW * len(rows), LEFT + BAR / 3
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + BAR + 70}" height="{height}" '
        'font-family="sans-serif" font-size="12" fill="#333">'
        f'<line x1="{line:.0f}" y1="8" x2="{line:.0f}" y2="{height - 12}" stroke="#888" stroke-dasharray="4 3"/>'
        f"{''.join(rows)}</svg>\n"
    )


def write_section(name: str, text: str, page: Path = PAGE) -> None:
    """Put a text between the marks of its name on a page."""
    before, begin, rest = page.read_text().partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- /{name} -->\n")
    if not begin or not end:
        raise ValueError(f"{page} has no section <!-- {name} --> … <!-- /{name} -->")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def number(value: float) -> str:
    """As many digits as can be read."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
