"""Layered objects that are read as one. Adding a layer copies nothing, so a context costs what is new.

Overlays and their layers are immutable and can be shared.
"""

from collections.abc import Sequence
from typing import final

from jeton.model.json import Json, JsonObject

MOST_LAYERS = 24


@final
class Overlay:
    """Layers, newest first. A key's value is that of the newest layer that has it.

    A layer is merged with the one below if that is no larger. So there are few layers, and each key is copied a
    logarithmic number of times.
    """

    __slots__ = ("layers",)

    def __init__(self, *layers: JsonObject) -> None:
        self.layers = layers

    def __contains__(self, key: str) -> bool:
        return any(key in layer for layer in self.layers)

    def get(self, key: str, default: Json = None) -> Json:
        for layer in self.layers:
            if key in layer:
                return layer[key]
        return default

    def plain(self) -> JsonObject:
        """A copy as one object, older keys first."""
        return _flat(self.layers)

    def under(self, newest: JsonObject) -> "Overlay":
        """An overlay with one more layer on top."""
        if not newest:
            return self
        layers = [newest, *self.layers]
        while len(layers) > 1 and len(layers[0]) >= len(layers[1]):
            layers[:2] = [{**layers[1], **layers[0]}]
        return _bounded(layers)


def merged(overlays: Sequence[Overlay]) -> Overlay:
    """Merge overlays; the later one wins for a shared key. A shared layer is kept once."""
    if len(overlays) == 1:
        return overlays[0]
    layers: dict[int, JsonObject] = {}
    for overlay in reversed(overlays):
        for layer in overlay.layers:
            layers.setdefault(id(layer), layer)
    return _bounded(list(layers.values()))


def _bounded(layers: list[JsonObject]) -> Overlay:
    return Overlay(*layers) if len(layers) <= MOST_LAYERS else Overlay(_flat(layers))


def _flat(layers: Sequence[JsonObject]) -> JsonObject:
    flat: JsonObject = {}
    for layer in reversed(layers):
        flat.update(layer)
    return flat
