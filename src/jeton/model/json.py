"""The only data that crosses a boundary of the core: plain JSON."""

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
else:
    Json = Any  # msgspec decodes Any to plain JSON, and knows no recursive alias

JsonObject: TypeAlias = dict[str, Json]
Schema: TypeAlias = dict[str, Json]  # JSON Schema, 2020-12
Mapping: TypeAlias = dict[str, Json]  # target path -> expression (a string) or literal (anything else)


def kind_of(value: Json) -> str:
    """What a value is, in words for people."""
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
