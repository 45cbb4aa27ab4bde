"""What can be stored: plain JSON of bounded depth, with 64-bit numbers and valid Unicode.

The same rules hold for input, answers and signals and for the results of tasks.
"""

import math
from typing import TypeAlias, cast

from jeton.model.json import Json, JsonObject

DEEPEST = 100
LONGEST_PATH = 200
MOST_FLAWS = 100  # that are told: more would help nobody, and a large value may have hundreds of thousands
SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1
TOO_DEEP = f"is nested more than {DEEPEST} levels deep"

Flaws: TypeAlias = list[tuple[str, str]]
"""Path and problem of each value that cannot be stored."""


def storable(value: object, path: str, flaws: Flaws, depth: int = 0) -> Json:
    """A copy of the value. What cannot be stored is null in it and added to `flaws`, up to a hundred."""
    match value:
        case None | bool():
            return value
        case int():
            if SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
                return value
            problem = "this number does not fit 64 bits; send it as text"
        case float():
            if math.isfinite(value):
                return value
            problem = f"{value} is not a JSON number"
        case str():
            if is_valid_text(value):
                return value
            problem = "has an unpaired surrogate, which is not a character"
        case list() | tuple() | dict() if depth == DEEPEST:
            _add(flaws, path, TOO_DEEP)
            return None
        case list() | tuple():
            items = cast("list[object] | tuple[object, ...]", value)
            return [storable(item, f"{path}[{index}]", flaws, depth + 1) for index, item in enumerate(items)]
        case dict():
            return _storable_object(cast("dict[object, object]", value), path, flaws, depth)
        case _:
            problem = f"a Python {type(value).__name__} is not plain data"
    _add(flaws, path, problem)
    return None


def _add(flaws: Flaws, path: str, problem: str) -> None:
    if len(flaws) < MOST_FLAWS:
        flaws.append((path[:LONGEST_PATH], problem))


def _storable_object(value: dict[object, object], path: str, flaws: Flaws, depth: int) -> JsonObject:
    found: JsonObject = {}
    for key, item in value.items():
        if isinstance(key, str) and is_valid_text(key):
            found[key] = storable(item, f"{path}.{key}", flaws, depth + 1)
        else:
            _add(flaws, path, f"the key {repr(key)[:LONGEST_PATH]} is no text")
    return found


def is_valid_text(text: str) -> bool:
    """Whether the text is valid Unicode, without half of a surrogate pair."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def valid_text(text: str) -> str:
    """The text with `?` for invalid characters, so that it can be stored."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
