"""What a server shows of a store, page by page: runs, versions and their texts, firings, usage, and the store itself.

Every call costs what it returns, or a bound that the caller gives, however large the store is.
Counts are the exception.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from jeton.actor.rows import FiringRow, RunRow, Usage
from jeton.model.ids import RunId
from jeton.model.state.run import RunStatus

RunPlace: TypeAlias = tuple[int, RunId]
"""When a run was submitted, and its id: its place in lists, which it keeps when it is pruned."""

UsedBy: TypeAlias = Literal["day", "workflow", "node", "profile"]


class RunFilter(msgspec.Struct, frozen=True):
    """Which runs are meant. No status means any. Times are milliseconds: from `since` on, and before `until`."""

    workflow: str | None = None
    statuses: frozenset[RunStatus] = frozenset()
    since: int | None = None
    until: int | None = None


class RunPage(msgspec.Struct, frozen=True):
    """Runs, newest first. All up to `reached` were looked at; None: there are no more."""

    rows: tuple[RunRow, ...]
    reached: RunPlace | None


class SourceText(msgspec.Struct, frozen=True):
    """A file of definitions as it was written."""

    name: str
    text: str


class StoredVersion(msgspec.Struct, frozen=True):
    """A version that was deployed, and when it was for the first time, if that is known.

    The one with the highest `deployed` is the one that new runs get."""

    version: int
    hash: str
    deployed: int
    at: int | None


class UsageTotal(msgspec.Struct, frozen=True):
    """What was used on a day, by a workflow, by a node of a workflow, or by a model profile."""

    day: str | None = None
    workflow: str | None = None
    node: str | None = None
    profile: str | None = None
    credits: int = 0
    shortfall: int = 0
    input: int = 0
    output: int = 0


class StoreFacts(msgspec.Struct, frozen=True):
    """The store: its size on disk, what is free there, its journal entries, its runs by status, and its losses."""

    bytes: int
    free_bytes: int
    entries: int
    runs: dict[str, int]
    owner: str | None
    last_commit_at: int | None
    lost: int  # commits


class Listing(Protocol):
    """Queries of a server, and the texts of definitions."""

    async def runs(self, wanted: RunFilter, after: RunPlace | None, look_at: int) -> RunPage:
        """Runs behind a place, no conversations. At most `look_at` are looked at, so the page may be empty."""
        ...

    async def tree(self, run: RunId, limit: int) -> list[RunRow]:
        """A run and the runs it called, newest first; empty if there is no such run."""
        ...

    async def started(self, workflow: str, key: str) -> RunId | None:
        """The run that a key started."""
        ...

    async def versions(self, name: str) -> list[StoredVersion]:
        """The versions of a workflow, flow or agent that were deployed, newest number first."""
        ...

    async def source(self, name: str, version: int) -> tuple[SourceText, ...]:
        """The files that a version was deployed from; none if they were not kept."""
        ...

    async def keep_source(self, versions: Mapping[str, int], files: Sequence[SourceText]) -> None:
        """Keep the files that versions were deployed from, instead of those that were kept before."""
        ...

    async def firings(self, trigger: str, before: int | None, limit: int) -> list[tuple[int, FiringRow]]:
        """Firings of a trigger with their numbers, newest first, before a number."""
        ...

    async def used(self, by: UsedBy, first: str | None, last: str | None) -> list[UsageTotal]:
        """What was used from one day to another, both included, in UTC."""
        ...

    async def facts(self) -> StoreFacts:
        """The store itself."""
        ...


def fits(wanted: RunFilter, row: RunRow) -> bool:
    """Whether a run is meant."""
    return (
        wanted.workflow in (None, row.workflow)
        and (not wanted.statuses or row.status in wanted.statuses)
        and (wanted.since is None or row.submitted_at >= wanted.since)
        and (wanted.until is None or row.submitted_at < wanted.until)
    )


def place_of(row: RunRow) -> RunPlace:
    """The place of a run in lists."""
    return row.submitted_at, row.run


def totals(usage: Iterable[Usage], by: UsedBy, first: str | None, last: str | None) -> list[UsageTotal]:
    """The totals of single uses. Credits have no profile: what nodes paid is under none of them."""
    found: dict[tuple[str | None, ...], UsageTotal] = {}
    for each in usage:
        if (first is not None and each.day < first) or (last is not None and each.day > last):
            continue
        for part in _parts(each, by):
            key = part.day, part.workflow, part.node, part.profile
            found[key] = _sum(found[key], part) if key in found else part
    return [found[key] for key in sorted(found, key=lambda key: tuple(text or "" for text in key))]


def _parts(used: Usage, by: UsedBy) -> Collection[UsageTotal]:
    if by == "profile":
        return [UsageTotal(profile=name, input=each.input, output=each.output) for name, each in used.tokens.items()]
    whole = UsageTotal(
        credits=used.credits,
        shortfall=used.shortfall,
        input=sum(each.input for each in used.tokens.values()),
        output=sum(each.output for each in used.tokens.values()),
    )
    match by:
        case "day":
            return [msgspec.structs.replace(whole, day=used.day)]
        case "workflow":
            return [msgspec.structs.replace(whole, workflow=used.workflow)]
        case "node":
            return [msgspec.structs.replace(whole, workflow=used.workflow, node=used.node)]


def _sum(one: UsageTotal, other: UsageTotal) -> UsageTotal:
    return msgspec.structs.replace(
        one,
        credits=one.credits + other.credits,
        shortfall=one.shortfall + other.shortfall,
        input=one.input + other.input,
        output=one.output + other.output,
    )
