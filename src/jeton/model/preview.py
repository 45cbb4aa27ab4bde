"""Values that are too large to be given to a model whole, as previews."""

import msgspec

from jeton.model.json import Json, JsonObject

_encode = msgspec.json.Encoder(order="sorted").encode


def encoded(value: Json) -> bytes:
    """A value as bytes, the same for equal values: a text as it is, anything else as JSON."""
    return value.encode() if isinstance(value, str) else _encode(value)


def fitted(value: Json, most: int, where: JsonObject | None = None) -> Json:
    """A value of no more than this many bytes as JSON. A larger one becomes a preview; `where`: where the whole is."""
    text = _encode(value)
    if len(text) <= most:
        return value
    text = encoded(value)
    length = most // 2
    while True:
        preview = text[:length].decode(errors="ignore")
        shown: JsonObject = {"too_large": True, "size": len(text), **(where or {}), "preview": preview}
        if length == 0 or len(_encode(shown)) <= most:
            return shown
        length //= 2
