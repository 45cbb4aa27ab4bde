"""The picture as lines of text: every node once, breadth first, with its outgoing arrows below it."""

from collections import deque
from collections.abc import Iterator

from jeton.engine.views.draw.picture import Arrow, Box, Picture, Tone

MARKS: dict[Tone, str] = {
    "idle": "○",
    "active": "◐",
    "waiting": "◷",
    "done": "●",
    "failed": "✗",
    "stopped": "⊘",
}


def as_text(picture: Picture) -> str:
    """The picture as text, for terminals of any width."""
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    yield picture.title
    for box in in_order(picture):
        yield f"{MARKS[box.counts.tone]} {_box_text(box)}"
        leaving = [arrow for arrow in picture.arrows if arrow.source == box.name]
        for arrow in leaving:
            yield f"  {'└' if arrow is leaving[-1] else '├'}{_line(arrow)} {arrow.target}{_labels(arrow)}"


def in_order(picture: Picture) -> list[Box]:
    """The boxes breadth first from the initial one; those that nothing leads to come last."""
    boxes = {box.name: box for box in picture.boxes}
    queue = deque(box.name for box in picture.boxes if box.is_initial)
    found: dict[str, None] = dict.fromkeys(queue)
    while queue:
        here = queue.popleft()
        for arrow in picture.arrows:
            if arrow.source == here and arrow.target not in found:
                found[arrow.target] = None
                queue.append(arrow.target)
    return [boxes[name] for name in (*found, *(name for name in boxes if name not in found))]


def _box_text(box: Box) -> str:
    text = box.name
    if box.kind != "pass":
        text += f" ({box.kind}: {' '.join(box.detail.split())})" if box.detail else f" ({box.kind})"
    return text + (f"  {box.counts.text}" if box.counts.text else "")


def _line(arrow: Arrow) -> str:
    return "✗▶" if arrow.on_failure else "═▶" if arrow.fans_out else "┄▶" if arrow.joins else "─▶"


def _labels(arrow: Arrow) -> str:
    labels = f"  [{'; '.join(' '.join(label.split()) for label in arrow.labels)}]" if arrow.labels else ""
    return f"{labels}  ✓" if arrow.taken else labels
