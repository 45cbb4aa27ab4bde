"""The picture as Mermaid text, which GitHub and many editors render."""

from collections.abc import Iterator

from jeton.engine.views.draw.palette import PALETTE
from jeton.engine.views.draw.picture import Box, Picture

SHAPES = {
    "pass": ('(["', '"])'),
    "wait": ('>"', '"]'),
    "gate": ('{{"', '"}}'),
    "workflow": ('[["', '"]]'),
    "end": ('((("', '")))'),
}
MAX_LABEL = 60


def as_mermaid(picture: Picture) -> str:
    """A Mermaid flowchart. Names are escaped."""
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    ids = {box.name: f"n{number}" for number, box in enumerate(picture.boxes)}
    yield "flowchart TD"
    for box in picture.boxes:
        opening, closing = SHAPES.get(box.kind, ('["', '"]'))
        yield f"    {ids[box.name]}{opening}{_box_text(box)}{closing}"
    for box in picture.boxes:
        if box.is_initial:
            yield f"    start((( ))) --> {ids[box.name]}"
    for arrow in picture.arrows:
        line = "==>" if arrow.fans_out else "-.->" if arrow.joins else "-->"
        label = f'|"{_escaped(_shortened("; ".join(arrow.labels)))}"|' if arrow.labels else ""
        yield f"    {ids[arrow.source]} {line}{label} {ids[arrow.target]}"
    yield from _marked_links(picture)
    if picture.has_run:
        for tone, colours in PALETTE.items():
            members = [ids[box.name] for box in picture.boxes if box.counts.tone == tone]
            if members:
                yield f"    classDef {tone} fill:{colours.fill},stroke:{colours.line},color:{colours.text}"
                yield f"    class {','.join(members)} {tone}"


def _marked_links(picture: Picture) -> Iterator[str]:
    """Colours of arrows that were taken and of those for failures. Arrows are numbered in the order of the text."""
    first = sum(box.is_initial for box in picture.boxes)
    marks = (
        ("stroke:#15803d,stroke-width:3px", [arrow.taken for arrow in picture.arrows]),
        ("stroke:#b91c1c", [arrow.on_failure and not arrow.taken for arrow in picture.arrows]),
    )
    for style, marked in marks:
        numbers = [str(first + number) for number, mark in enumerate(marked) if mark]
        if numbers:
            yield f"    linkStyle {','.join(numbers)} {style}"


def _box_text(box: Box) -> str:
    parts = [f"<b>{_escaped(box.name)}</b>"]
    if box.kind != "pass":
        parts.append(_escaped(_shortened(f"{box.kind}: {box.detail}" if box.detail else box.kind)))
    if box.counts.text:
        parts.append(_escaped(box.counts.text))
    return "<br/>".join(parts)


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_LABEL else text[: MAX_LABEL - 1] + "…"


def _escaped(text: str) -> str:
    """The text with all characters that Mermaid or HTML could interpret as numbered entities."""
    return "".join(c if c.isalnum() or c in " .,:_-+·×…=/()[]" else f"#{ord(c)};" for c in text)
