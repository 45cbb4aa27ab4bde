"""Objects laid over each other, read as one. Laying one over another copies neither, so a context costs what is new.

An overlay never changes, and neither do its layers: those who share one cannot notice each other.
"""

from collections.abc import Sequence
from typing import final

from jeton.model.json import Json, JsonObject

MOST_LAYERS = 24


@final
class Overlay:
    """Layers, newest first. A key's value is that of the newest layer that has it.

    A layer that would lie on one no larger than itself becomes one with it. So there are few layers, reading a key
    looks at few, and each key is copied as often as a counter has digits, not once for each layer above it.
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
        """All of it as one object of the caller's own; older keys come first."""
        return _flat(self.layers)

    def under(self, newest: JsonObject) -> "Overlay":
        """This, with an object laid over it."""
        if not newest:
            return self
        layers = [newest, *self.layers]
        while len(layers) > 1 and len(layers[0]) >= len(layers[1]):
            layers[:2] = [{**layers[1], **layers[0]}]
        return _bounded(layers)


def merged(overlays: Sequence[Overlay]) -> Overlay:
    """All of them, key by key; where they share a key, the later's. What they share as a layer is kept once."""
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
