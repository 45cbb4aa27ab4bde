"""Colours by what a node's tokens are doing; dark enough to be read, and told apart without red and green alone."""

import msgspec

from jeton.engine.views.draw.picture import Tone


class Colours(msgspec.Struct, frozen=True):
    """Of a box: its inside, its border, its text; and the name a terminal knows."""

    fill: str
    line: str
    text: str
    terminal: str


PALETTE: dict[Tone, Colours] = {
    "idle": Colours("#ffffff", "#8a8f98", "#24292f", "white"),
    "active": Colours("#dbeafe", "#1d4ed8", "#1e3a8a", "blue"),
    "waiting": Colours("#fef3c7", "#b45309", "#78350f", "yellow"),
    "done": Colours("#dcfce7", "#15803d", "#14532d", "green"),
    "failed": Colours("#fee2e2", "#b91c1c", "#7f1d1d", "red"),
    "stopped": Colours("#f3f4f6", "#6b7280", "#374151", "bright_black"),
}
