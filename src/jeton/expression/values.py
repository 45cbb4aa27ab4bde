"""Results of an evaluation: a JSON value, a missing key, or a failure."""

from collections.abc import Sequence
from typing import TypeAlias, final

import msgspec

from jeton.model.json import Json

LONGEST_TEXT = 200
MOST_ITEMS = 10
DEEPEST = 4


@final
class Missing(msgspec.Struct, frozen=True):
    """The path of a key that does not exist, such as `state.votes.total`."""

    path: str


@final
class Failed(msgspec.Struct, frozen=True):
    """Any other evaluation error, with its position and the values that were read."""

    problem: str
    position: str  # line:column
    values: dict[str, Json]  # of the paths the expression reads, shortened


EvaluationResult: TypeAlias = Json | Missing | Failed


def position_of(source: str, at: int) -> str:
    """The line and column of a character, both counted from 1."""
    return f"{source.count(chr(10), 0, at) + 1}:{at - source.rfind(chr(10), 0, at)}"


def path_text(path: Sequence[str]) -> str:
    """The path as CEL source: `state.votes`, but `state["order lines"]`."""
    text = path[0]
    for key in path[1:]:
        text = below(text, key)
    return text


def below(base: str, key: str) -> str:
    """The path of a key below another path."""
    return f"{base}.{key}" if key.isidentifier() and key.isascii() else f"{base}[{quoted(key)}]"


def quoted(text: str) -> str:
    """The text as a CEL string literal in double quotes."""
    return msgspec.json.encode(text).decode()


def shorten(value: Json, depth: int = 0) -> Json:
    """The value, shortened for an error message."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else f"{value[:LONGEST_TEXT]}… ({len(value)} characters)"
    if isinstance(value, list):
        if depth == DEEPEST:
            return f"[{len(value)} items]"
        kept = [shorten(item, depth + 1) for item in value[:MOST_ITEMS]]
        return kept if len(value) <= MOST_ITEMS else [*kept, f"… {len(value) - MOST_ITEMS} more"]
    if isinstance(value, dict):
        if depth == DEEPEST:
            return f"{{{len(value)} keys}}"
        short = {key: shorten(value[key], depth + 1) for key in list(value)[:MOST_ITEMS]}
        return short if len(value) <= MOST_ITEMS else {**short, "…": f"{len(value) - MOST_ITEMS} more"}
    return value
