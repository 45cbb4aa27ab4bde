"""Queries on a simulated world."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from functools import partial

from jeton.actor.advance import LiveRun
from jeton.actor.queries.vitals import Census
from jeton.actor.rows import (
    Account,
    EntryPlace,
    FiringRow,
    GateRow,
    LinePage,
    PlacedEntry,
    Published,
    RunRow,
    TreePositions,
    TriggerRow,
    Usage,
)
from jeton.actor.sections import load_run
from jeton.actor.starts import unknown_run
from jeton.executor.event_sink import CurrentMetric
from jeton.hosts.simulated.driver import Driver
from jeton.hosts.simulated.line import LineReads
from jeton.hosts.simulated.memory.store import Store
from jeton.model.definition.agent import agent_of
from jeton.model.definition.workflow import Library
from jeton.model.entry import Entry
from jeton.model.ids import RunId
from jeton.model.state.run import TERMINAL, RunStatus


class SimulatedReads:
    """Fulfils `jeton.actor.host.Reads`."""

    def __init__(self, store: Store, driver: Driver) -> None:
        self._store = store
        self._line = LineReads(store)
        self._driver = driver

    async def row(self, run: RunId) -> RunRow | None:
        if self._store.has(run):  # a run that was called begins at once, and whoever follows it must not miss that
            await self._driver.until(lambda: self._store.row(run) is not None or not self._store.has(run))
        return self._store.row(run)

    async def rows(
        self,
        *,
        workflow: str | None = None,
        status: RunStatus | None = None,
        after: RunId | None = None,
        limit: int = 100,
        conversations: bool = False,
    ) -> list[RunRow]:
        rows = [row for row in self._store.rows()[::-1] if (agent_of(row.workflow) is not None) == conversations]
        first = next((place for place, row in enumerate(rows, 1) if row.run == after), 0)
        found = [row for row in rows[first:] if workflow in (None, row.workflow) and status in (None, row.status)]
        return found[:limit]

    async def children(self, run: RunId) -> list[RunRow]:
        return [row for row in self._store.rows() if row.parent is not None and row.parent.run == run]

    async def gates(self, run: RunId | None = None) -> list[GateRow]:
        return self._store.tables.gates(run)

    async def entries(self, run: RunId, after: int = -1) -> list[Entry]:
        return self._store.entries(run, after)

    async def stretch(self, run: RunId, first: int, last: int) -> list[Entry]:
        return self._store.stretch(run, first, last)

    async def oldest(self, run: RunId) -> int | None:
        return 0 if self._store.journal(run) else None  # a history is kept whole, or not at all

    async def place(self, run: RunId, event: int) -> EntryPlace | None:
        return self._line.place(run, event)

    async def census(self) -> Census:
        rows = self._store.rows()
        counts = Counter((row.workflow, str(row.status)) for row in rows)
        open = [row for row in rows if row.status not in TERMINAL]
        under_way = {str(row.run): (row.workflow, str(row.status), row.submitted_at) for row in open}
        return Census(await self.head(), dict(counts), under_way, len(await self.gates()))

    async def head(self) -> int:
        return self._store.line.head

    async def line(self, after: int = 0, limit: int = 500, within: RunId | None = None) -> LinePage:
        return self._line.page(after, limit, within)

    async def tree_positions(self, run: RunId, after: int = 0) -> TreePositions:
        return self._line.tree_positions(run, after)

    async def placed(self, positions: Sequence[int]) -> list[PlacedEntry]:
        return self._line.placed(positions)

    async def unended(self, run: RunId) -> int:
        return self._line.unended(run)

    async def changed(self, after: int, run: RunId | None = None) -> None:
        await self._driver.until(lambda: self._store.line.head > after)

    async def live(self, run: RunId) -> LiveRun | None:
        sections = self._store.sections(run)
        return None if sections is None else load_run(sections)

    async def bundle(self, name: str, version: int | None = None) -> tuple[Library, int] | None:
        return self._store.definitions.bundles.find(name, version)

    async def deployed(self) -> list[str]:
        return self._store.definitions.deployed()

    async def triggers(self) -> list[TriggerRow]:
        return self._store.triggers.rows()

    async def firings(
        self, *, trigger: str | None = None, run: RunId | None = None, limit: int = 100
    ) -> list[FiringRow]:
        newest_first = self._store.firings()[::-1]
        return [row for row in newest_first if trigger in (None, row.trigger) and run in (None, row.run)][:limit]

    async def fired_by(self, run: RunId, limit: int = 100) -> list[FiringRow]:
        return [row for row in self._store.firings() if row.source == run and row.depth > 0][:limit]

    async def disabled(self) -> frozenset[str]:
        return frozenset(self._store.triggers.disabled)

    async def account(self) -> Account | None:
        return self._store.account()

    async def usage(
        self, *, run: RunId | None = None, workflow: str | None = None, day: str | None = None, below: bool = False
    ) -> list[Usage]:
        return self._store.tables.usage(run, workflow, day, below=below)

    async def published(
        self, *, run: RunId | None = None, event: str | None = None, after: int = 0, limit: int = 100
    ) -> list[Published]:
        return self._store.triggers.published(run, event, after)[:limit]

    async def metrics(self, run: RunId | None = None) -> list[CurrentMetric]:
        return self._store.triggers.metrics(run)

    async def watch(self, run: RunId, after: int = -1) -> AsyncIterator[Entry]:
        while True:
            row = self._store.row(run)
            if row is None:
                raise unknown_run(run)
            for entry in self._store.entries(run, after):
                yield entry
                after = entry.number
            if row.ended_at is not None:
                return
            await self._driver.until(partial(self._has_more, run, row.entries))

    def _has_more(self, run: RunId, entries: int) -> bool:
        row = self._store.row(run)
        return row is None or row.entries > entries
