"""Several sections as one JSON object, and back."""

from collections.abc import Mapping

import msgspec

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def packed(sections: Mapping[str, bytes]) -> bytes:
    """They are JSON already, and are not read for it."""
    return _encode({name: msgspec.Raw(body) for name, body in sections.items()})


def unpacked(body: bytes | None) -> dict[str, bytes]:
    """The sections that were packed; none, if there was nothing to pack."""
    return {} if body is None else {name: bytes(raw) for name, raw in _decode(body).items()}
