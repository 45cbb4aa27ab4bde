"""Several sections as one JSON object, and back."""

from collections.abc import Mapping

import msgspec

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def packed(sections: Mapping[str, bytes]) -> bytes:
    """Join sections to one JSON object, without parsing them."""
    return _encode({name: msgspec.Raw(body) for name, body in sections.items()})


def unpacked(body: bytes | None) -> dict[str, bytes]:
    """The sections that were packed; none for None."""
    return {} if body is None else {name: bytes(raw) for name, raw in _decode(body).items()}
