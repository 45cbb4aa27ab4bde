"""Lists of a simulated world for servers."""

from collections.abc import Mapping, Sequence

from jeton.actor.queries.listing import (
    RunFilter,
    RunPage,
    RunPlace,
    SourceText,
    StoredVersion,
    StoreFacts,
    UsageTotal,
    UsedBy,
    fits,
    place_of,
    totals,
)
from jeton.actor.rows import FiringRow, RunRow
from jeton.hosts.simulated.memory.store import Store
from jeton.model.definition.agent import agent_of
from jeton.model.ids import RunId, names_below


class SimulatedListing:
    """Fulfils `jeton.actor.queries.listing.Listing`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def runs(self, wanted: RunFilter, after: RunPlace | None, look_at: int) -> RunPage:
        behind = [row for row in self._newest() if after is None or place_of(row) < after]
        looked_at = behind[:look_at]
        rows = tuple(row for row in looked_at if fits(wanted, row) and agent_of(row.workflow) is None)
        return RunPage(rows, place_of(looked_at[-1]) if len(behind) > look_at else None)

    async def tree(self, run: RunId, limit: int) -> list[RunRow]:
        first, last = names_below(run)
        return [row for row in self._newest() if row.run == run or first < row.run < last][:limit]

    async def started(self, workflow: str, key: str) -> RunId | None:
        found = self._store.start_key(workflow, key)
        return None if found is None else found.run

    async def versions(self, name: str) -> list[StoredVersion]:
        return self._store.definitions.versions(name)

    async def source(self, name: str, version: int) -> tuple[SourceText, ...]:
        return self._store.definitions.source(name, version)

    async def keep_source(self, versions: Mapping[str, int], files: Sequence[SourceText]) -> None:
        self._store.definitions.keep_source(versions, files)

    async def firings(self, trigger: str, before: int | None, limit: int) -> list[tuple[int, FiringRow]]:
        numbered = [(number, row) for number, row in enumerate(self._store.firings(), 1) if row.trigger == trigger]
        return [each for each in numbered[::-1] if before is None or each[0] < before][:limit]

    async def used(self, by: UsedBy, first: str | None, last: str | None) -> list[UsageTotal]:
        return totals(self._store.tables.usage(None, None, None, below=False), by, first, last)

    async def facts(self) -> StoreFacts:
        rows = [row for row in self._store.rows() if agent_of(row.workflow) is None]
        counts: dict[str, int] = {}
        for row in rows:
            counts[row.status] = counts.get(row.status, 0) + 1
        return StoreFacts(0, 0, sum(row.entries for row in rows), dict(sorted(counts.items())), None, None, 0)

    def _newest(self) -> list[RunRow]:
        return sorted(self._store.rows(), key=place_of, reverse=True)
