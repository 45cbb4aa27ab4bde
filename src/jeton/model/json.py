"""Plain JSON: the only data that crosses a boundary of the core."""

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:
    Json = Any  # msgspec decodes Any to plain JSON and does not support recursive aliases

JsonObject: TypeAlias = dict[str, Json]
Schema: TypeAlias = dict[str, Json]  # JSON Schema, 2020-12
Mapping: TypeAlias = dict[str, Json]  # target path -> expression (a string) or literal (anything else)


def kind_of(value: Json) -> str:
    """The type of a value, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "an object"
