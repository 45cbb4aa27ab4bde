"""What many seeds came to."""

from typing import Literal, TypeAlias

import msgspec

from jeton.model.json import Json, JsonObject

ProblemKind: TypeAlias = Literal["differs", "hang", "broken"]


class Ending(msgspec.Struct, frozen=True):
    """One way in which the run ended, how many seeds led there, and the first of them.

    `error` is its type. A run that hangs has the status it hangs in; one that broke an invariant is `broken`.
    """

    status: str
    output: Json
    error: str | None
    count: int
    seed: int


class Problem(msgspec.Struct, frozen=True):
    """One thing that goes wrong, with as few faults as it needs, and what happened.

    `seed` gives the problem again, with all the faults it brings. Beyond the first few problems there is no story.
    """

    kind: ProblemKind
    what: str
    count: int
    seed: int
    faults: tuple[JsonObject, ...]
    story: tuple[JsonObject, ...]
    waits: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True):
    """What `jeton simulate` answers. The commonest outcome comes first."""

    ok: bool
    seeds: int
    outcomes: tuple[Ending, ...]
    problems: tuple[Problem, ...]
