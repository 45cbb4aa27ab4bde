"""Several sections as one JSON object, and back; and whether two sections say the same."""

from collections.abc import Mapping

import msgspec

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_numbers_as_text = msgspec.json.Decoder(float_hook=lambda text: {"float": text}).decode
_sorted = msgspec.json.Encoder(order="sorted").encode


def packed(sections: Mapping[str, bytes]) -> bytes:
    """Join sections to one JSON object, without parsing them."""
    return _encode({name: msgspec.Raw(body) for name, body in sections.items()})


def unpacked(body: bytes | None) -> dict[str, bytes]:
    """The sections that were packed; none for None."""
    return {} if body is None else {name: bytes(raw) for name, raw in _decode(body).items()}


def same_json(one: bytes, other: bytes) -> bool:
    """Whether two texts differ in the order of keys at most. 1 and 1.0 differ, and so do the last digits of numbers."""
    if one == other:
        return True
    return len(one) == len(other) and _sorted(_numbers_as_text(one)) == _sorted(_numbers_as_text(other))
