"""What a server's clients look through, besides single runs."""

from collections.abc import AsyncIterator, Sequence

from jeton.actor.queries.listing import StoreFacts, UsageTotal, UsedBy
from jeton.actor.rows import RunRow
from jeton.engine.browse.catalogue import Catalogue
from jeton.engine.browse.search import Search
from jeton.engine.look.history import pruned
from jeton.engine.lookup import Lookup
from jeton.engine.reading import Reading
from jeton.engine.views.events import events_in
from jeton.engine.views.firings import FiringView, firing_view
from jeton.engine.views.record import RunRecord
from jeton.executor.artifacts import ArtifactMissing, ArtifactReference
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from jeton.model.message import StartRun
from jeton.model.times import rfc3339
from jeton.model.trace_parent import TraceParent

ENTRIES_AT_A_TIME = 200


class Browse:
    """Definitions, runs by queries, firings, usage, artifacts and the store itself."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._listing = lookup.host.listing
        self.catalogue = Catalogue(lookup)
        self.search = Search(lookup)
        self._reading = Reading(lookup)

    async def records(self, rows: Sequence[RunRow]) -> tuple[RunRecord, ...]:
        """The records of runs as lists have them. A damaged run has the error `run_damaged`."""
        return await self._reading.listed(rows)

    async def row(self, run: RunId) -> RunRow | None:
        """A run as lists have it, without its state; None if it is not there, or not any more."""
        return await self._lookup.host.reads.row(run)

    async def started_under(self, run: RunId) -> TraceParent | None:
        """The span of another system that a run was started under, unless it is a fork, or its history was pruned."""
        row = await self._lookup.host.reads.row(run)
        if row is None or row.forked is not None:
            return None
        first = await self._lookup.host.reads.stretch(run, 0, 0)
        starts = (message for entry in first for message in entry.messages if isinstance(message, StartRun))
        return next((start.under for start in starts), None)

    async def firings(self, trigger: str, before: int | None, limit: int) -> tuple[tuple[FiringView, ...], int | None]:
        """Firings of a trigger, newest first, and the number before which the next page is; None if there is none.

        Raises Refused if there is no such trigger, and it never fired."""
        found = await self._listing.firings(trigger, before, limit + 1)
        if not found and not await self._is_trigger(trigger):
            problem = f"there is no trigger '{trigger}' in this store"
            raise Refused("unknown_trigger", problem, "list the triggers there are")
        page = found[:limit]
        return tuple(firing_view(row) for _, row in page), page[-1][0] if len(found) > limit else None

    async def _is_trigger(self, name: str) -> bool:
        known = any(row.trigger.name == name for row in await self._lookup.host.reads.triggers())
        return known or bool(await self._listing.firings(name, None, 1))

    async def events(self, run: str, after: int, limit: int) -> tuple[list[JsonObject], bool]:
        """A run's own events behind a sequence number, and whether there are more. Costs what it returns.

        Raises Refused if the first of them was pruned."""
        row, reads = await self._lookup.row(run), self._lookup.host.reads
        place = await reads.place(row.run, max(after, -1) + 1)
        if place is None and row.entries and await reads.oldest(row.run) != 0:
            raise pruned(row.run)
        found: list[JsonObject] = []
        first = 0 if place is None else place.number
        while len(found) <= limit:
            entries = await reads.stretch(row.run, first, first + min(limit, ENTRIES_AT_A_TIME))
            if not entries:
                return found, False
            found += events_in(row.run, entries, after)
            first = entries[-1].number + 1
        return found[:limit], True

    async def used(self, by: UsedBy, since: int | None, until: int | None) -> list[UsageTotal]:
        """What was used on the days from one time to before another, in UTC."""
        first = None if since is None else rfc3339(max(since, 0))[:10]
        last = None if until is None else rfc3339(max(until - 1, 0))[:10]
        return await self._listing.used(by, first, last)

    async def facts(self) -> StoreFacts:
        """The store itself."""
        return await self._listing.facts()

    async def artifact(self, id: str) -> tuple[ArtifactReference, AsyncIterator[bytes]]:
        """An artifact that a run holds or that was uploaded, and its content in parts."""
        try:
            return await self._lookup.host.artifacts.stream(id)
        except ArtifactMissing as missing:
            raise Refused("unknown_artifact", str(missing), "check the id") from None

    async def hold(self, run: str, id: str) -> ArtifactReference:
        """An artifact, which a run or conversation holds from now on."""
        try:
            return await self._lookup.host.artifacts.hold(RunId(run), id)
        except ArtifactMissing as missing:
            raise Refused("unknown_artifact", str(missing), "check the id") from None

    async def upload(self, chunks: AsyncIterator[bytes], media_type: str) -> ArtifactReference:
        """Store an artifact for runs to come. It is kept for 30 days, and for as long as a run that read it."""
        day = rfc3339(self._lookup.host.wall())[:10]
        return await self._lookup.host.artifacts.upload(day, chunks, media_type)
