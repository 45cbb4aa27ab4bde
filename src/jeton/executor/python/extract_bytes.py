"""Extract bytes from the result of a function: they become artifacts, and only references stay in the result.

Almost no result contains bytes, so the check must be cheap: a result that is unchanged by encoding and decoding as JSON
has none, and only others are searched.
"""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import NoneType
from typing import Any, TypeAlias, cast, final
from uuid import UUID

import msgspec

from jeton.executor.python.bytes_paths import Path, set_at
from jeton.executor.python.results import builtins_of, to_json
from jeton.model.json import Json

BINARY = (bytes, bytearray, memoryview)

_BINARY = frozenset(BINARY)

_PLAIN: frozenset[type] = frozenset((str, int, float, bool, NoneType, datetime, date, time, timedelta, UUID, Decimal))
"""Types that cannot contain bytes."""

Content: TypeAlias = tuple[Path, bytes]


@final
class ExtractedBytes(msgspec.Struct, frozen=True):
    """Plain JSON with null in place of bytes, and the bytes by path."""

    value: Json
    contents: tuple[Content, ...]

    def restored(self) -> object:
        """The value with the bytes put back."""
        restored: object = msgspec.to_builtins(self.value)
        for path, content in self.contents:
            restored = set_at(restored, path, content)
        return restored


def extract_bytes(value: Any, name: str = "result") -> Json | ExtractedBytes:
    """The value as plain JSON that shares nothing with the original, with any bytes extracted."""
    for inner in value.values() if value.__class__ is dict else (value,):
        if type(inner) in _BINARY:
            break
    else:
        converted = to_json(value, name)
        if converted == value or not _has_bytes(value):  # bytes become a string, which differs from them
            return converted
    contents: list[Content] = []
    rest = _remove_bytes(builtins_of(value, BINARY), (), contents)
    return ExtractedBytes(to_json(rest, name), tuple(contents))


def _has_bytes(value: object) -> bool:
    kind = type(value)
    if kind in _PLAIN:
        return False
    if kind is dict:
        return _any_has_bytes(cast("dict[object, object]", value).values())
    if kind in (list, tuple, set, frozenset):
        return _any_has_bytes(cast("list[object]", value))
    if isinstance(value, BINARY):
        return True
    converted = builtins_of(value, BINARY)  # such as a dataclass
    return type(converted) is not kind and _has_bytes(converted)


def _any_has_bytes(values: Iterable[object]) -> bool:
    return not _PLAIN.issuperset(map(type, values)) and any(map(_has_bytes, values))


def _remove_bytes(value: object, path: Path, contents: list[Content]) -> object:
    match value:
        case bytes() | bytearray() | memoryview():
            contents.append((path, bytes(cast("bytes", value))))
            return None
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return {key: _remove_bytes(inner, (*path, key), contents) for key, inner in pairs}
        case list() | tuple():
            items = enumerate(cast("list[Any]", value))
            return [_remove_bytes(inner, (*path, index), contents) for index, inner in items]
        case _:
            return value
