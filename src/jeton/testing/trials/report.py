"""The report on many seeds."""

from typing import Literal, TypeAlias

import msgspec

from jeton.model.json import Json, JsonObject

FindingKind: TypeAlias = Literal["differs", "hang", "broken"]


class Ending(msgspec.Struct, frozen=True, omit_defaults=True):
    """One outcome, the number of seeds that have it, and the first of them.

    `error` is the error's type; `message` and `node` are of the first seed's error. A run that hangs has its last
    status; one that broke an invariant is `broken`.
    """

    status: str
    output: Json
    error: str | None
    count: int
    seed: int
    message: str | None = None
    node: str | None = None


class Finding(msgspec.Struct, frozen=True):
    """One thing that goes wrong, with the fewest faults that cause it, and its story.

    `seed` reproduces it, with all the faults of that seed. Only the first few findings have a story.
    """

    kind: FindingKind
    what: str
    count: int
    seed: int
    faults: tuple[JsonObject, ...]
    story: tuple[JsonObject, ...]
    waits: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True):
    """The outcomes of all seeds, most frequent first, and what is wrong with them."""

    ok: bool
    seeds: int
    outcomes: tuple[Ending, ...]
    problems: tuple[Finding, ...]


def error_text(type: str, message: str | None, node: str | None) -> str:
    """An error behind a status: ` at 'charge': http_status: 402`."""
    where = f" at '{node}'" if node else ""
    return f"{where}: {type}: {message}" if message else f"{where}: {type}"
