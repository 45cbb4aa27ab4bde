"""Records and views as plain JSON: all fields are present, and times are RFC 3339."""

from datetime import datetime
from typing import Any, cast

import msgspec

from jeton.model.json import Json, JsonObject
from jeton.model.times import text_of


def plain(value: msgspec.Struct) -> JsonObject:
    """A record, a view or an explanation as one JSON object."""
    return cast("JsonObject", _without_times(msgspec.to_builtins(value, builtin_types=(datetime,), str_keys=True)))


def _without_times(value: Any) -> Json:
    match value:
        case dict():
            return {key: _without_times(inner) for key, inner in cast("dict[str, Any]", value).items()}
        case list() | tuple():
            return [_without_times(inner) for inner in cast("list[Any]", value)]
        case datetime():
            return text_of(value)
        case _:
            return cast("Json", value)
