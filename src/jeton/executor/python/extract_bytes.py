"""Bytes in what a function gives: they are taken out, because only references to them go on.

Almost no result has any. So finding that out is what must cost little: a result that is the same after it was written
as JSON and read again has none, and only another one is searched.
"""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import NoneType
from typing import Any, TypeAlias, cast, final
from uuid import UUID

import msgspec

from jeton.executor.python.bytes_paths import Path, put
from jeton.executor.python.results import builtins_of, plain
from jeton.model.json import Json

BINARY = (bytes, bytearray, memoryview)

_BINARY = frozenset(BINARY)

_PLAIN: frozenset[type] = frozenset((str, int, float, bool, NoneType, datetime, date, time, timedelta, UUID, Decimal))
"""What has nothing in it."""

Content: TypeAlias = tuple[Path, bytes]


@final
class ExtractedBytes(msgspec.Struct, frozen=True):
    """Plain JSON with a null wherever bytes stood, and those bytes."""

    value: Json
    contents: tuple[Content, ...]

    def whole(self) -> object:
        """The value with the bytes where they were."""
        whole: object = msgspec.to_builtins(self.value)
        for path, content in self.contents:
            whole = put(whole, path, content)
        return whole


def extract_bytes(value: Any, name: str = "result") -> Json | ExtractedBytes:
    """The value as JSON would have it, sharing nothing with what the function keeps, and without the bytes in it."""
    for inner in value.values() if value.__class__ is dict else (value,):
        if type(inner) in _BINARY:
            break
    else:
        made = plain(value, name)
        if made == value or not _has_bytes(value):  # bytes become a text, and are equal to none
            return made
    contents: list[Content] = []
    rest = _without(builtins_of(value, BINARY), (), contents)
    return ExtractedBytes(plain(rest, name), tuple(contents))


def _has_bytes(value: object) -> bool:
    kind = type(value)
    if kind in _PLAIN:
        return False
    if kind is dict:
        return _have_bytes(cast("dict[object, object]", value).values())
    if kind in (list, tuple, set, frozenset):
        return _have_bytes(cast("list[object]", value))
    if isinstance(value, BINARY):
        return True
    made = builtins_of(value, BINARY)  # a dataclass, say
    return type(made) is not kind and _has_bytes(made)


def _have_bytes(values: Iterable[object]) -> bool:
    return not _PLAIN.issuperset(map(type, values)) and any(map(_has_bytes, values))


def _without(value: object, path: Path, contents: list[Content]) -> object:
    match value:
        case bytes() | bytearray() | memoryview():
            contents.append((path, bytes(cast("bytes", value))))
            return None
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return {key: _without(inner, (*path, key), contents) for key, inner in pairs}
        case list() | tuple():
            items = enumerate(cast("list[Any]", value))
            return [_without(inner, (*path, index), contents) for index, inner in items]
        case _:
            return value
