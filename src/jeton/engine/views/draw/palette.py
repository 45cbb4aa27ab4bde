"""Colours of nodes by the state of their tokens, with enough contrast and not distinguished by red and green alone."""

import msgspec

from jeton.engine.views.draw.picture import Tone


class Colours(msgspec.Struct, frozen=True):
    """Fill, border and text of a box, and the name of the terminal colour."""

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
