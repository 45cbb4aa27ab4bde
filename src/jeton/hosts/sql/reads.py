"""Queries on a store. Single rows are read on the event loop; whatever may be long is read on another thread."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import get_args

from jeton.actor.advance import LiveRun
from jeton.actor.definitions import Bundles
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
from jeton.actor.starts import unknown_run
from jeton.executor.event_sink import CurrentMetric
from jeton.hosts.sql.line import LineReads
from jeton.hosts.sql.loop.owner import Owner
from jeton.hosts.sql.mirrors.credits import account_in, usage_in
from jeton.hosts.sql.mirrors.event_sink import current_metrics, published_events
from jeton.hosts.sql.mirrors.firings import disabled_in, fired_by, firings_in, triggers_in
from jeton.hosts.sql.store import ENTRIES_PER_READ, Store
from jeton.model.definition.workflow import Library
from jeton.model.entry import Entry
from jeton.model.ids import RunId
from jeton.model.state.run import TERMINAL, RunStatus

POLL_S = 0.05
UNDER_WAY = tuple(sorted(set(get_args(RunStatus)) - TERMINAL))


class SqlReads:
    """Fulfils `jeton.actor.host.Reads`."""

    def __init__(self, store: Store, bundles: Bundles, owner: Owner | None) -> None:
        self._store = store
        self._line = LineReads(store)
        self._bundles = bundles
        self._owner = owner

    async def row(self, run: RunId) -> RunRow | None:
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
        return await asyncio.to_thread(self._store.rows, workflow, status, after, limit, conversations)

    async def children(self, run: RunId) -> list[RunRow]:
        return await asyncio.to_thread(self._store.children, run)

    async def gates(self, run: RunId | None = None) -> list[GateRow]:
        return await asyncio.to_thread(self._store.gates, run)

    async def entries(self, run: RunId, after: int = -1) -> list[Entry]:
        return await asyncio.to_thread(self._store.entries, run, after)

    async def stretch(self, run: RunId, first: int, last: int) -> list[Entry]:
        return await asyncio.to_thread(self._store.stretch, run, first, last)

    async def oldest(self, run: RunId) -> int | None:
        return self._store.oldest(run)

    async def place(self, run: RunId, event: int) -> EntryPlace | None:
        return await asyncio.to_thread(self._line.place, run, event)

    async def census(self) -> Census:
        return await asyncio.to_thread(self._census)

    def _census(self) -> Census:
        with self._store.snapshot() as db:
            head: int = db.execute("select coalesce(max(position), 0) from journal").get
            runs = db.execute("select workflow, status, count(*) from runs group by workflow, status")
            found = {(workflow, status): count for workflow, status, count in runs}
            marks = ", ".join("?" * len(UNDER_WAY))
            query = f"select run, workflow, status, submitted_at from runs where status in ({marks})"
            under_way = {run: (workflow, status, at) for run, workflow, status, at in db.execute(query, UNDER_WAY)}
            return Census(head, found, under_way, db.execute("select count(*) from gates").get)

    async def head(self) -> int:
        return self._line.head()

    async def line(self, after: int = 0, limit: int = 500, within: RunId | None = None) -> LinePage:
        return await asyncio.to_thread(self._line.page, after, limit, within)

    async def tree_positions(self, run: RunId, after: int = 0) -> TreePositions:
        return await asyncio.to_thread(self._line.tree_positions, run, after)

    async def placed(self, positions: Sequence[int]) -> list[PlacedEntry]:
        return await asyncio.to_thread(self._line.placed, positions)

    async def unended(self, run: RunId) -> int:
        return await asyncio.to_thread(self._line.unended, run)

    async def changed(self, after: int, run: RunId | None = None) -> None:
        if self._owner is None:
            while (await asyncio.to_thread(self._line.head)) <= after:
                await asyncio.sleep(POLL_S)
            return
        with self._owner.listen_line() as changed:
            while self._line.head() <= after:
                self._owner.check(run)
                await changed.wait()
                changed.clear()

    async def live(self, run: RunId) -> LiveRun | None:
        return await asyncio.to_thread(self._store.live, run)

    async def bundle(self, name: str, version: int | None = None) -> tuple[Library, int] | None:
        return self._bundles.find(name, version)

    async def deployed(self) -> list[str]:
        return self._store.deployed()

    async def triggers(self) -> list[TriggerRow]:
        return await asyncio.to_thread(triggers_in, self._store)

    async def firings(
        self, *, trigger: str | None = None, run: RunId | None = None, limit: int = 100
    ) -> list[FiringRow]:
        return await asyncio.to_thread(firings_in, self._store, trigger, run, limit)

    async def fired_by(self, run: RunId, limit: int = 100) -> list[FiringRow]:
        return fired_by(self._store, run, limit)

    async def disabled(self) -> frozenset[str]:
        return disabled_in(self._store)

    async def account(self) -> Account | None:
        return account_in(self._store)

    async def usage(
        self, *, run: RunId | None = None, workflow: str | None = None, day: str | None = None, below: bool = False
    ) -> list[Usage]:
        return await asyncio.to_thread(usage_in, self._store, run, workflow, day, below=below)

    async def published(
        self, *, run: RunId | None = None, event: str | None = None, after: int = 0, limit: int = 100
    ) -> list[Published]:
        return await asyncio.to_thread(published_events, self._store, run, event, after, limit)

    async def metrics(self, run: RunId | None = None) -> list[CurrentMetric]:
        return await asyncio.to_thread(current_metrics, self._store, run)

    async def watch(self, run: RunId, after: int = -1) -> AsyncIterator[Entry]:
        if self._owner is None:
            async for entry in self._follow(run, after, lambda: asyncio.sleep(POLL_S)):
                yield entry
            return
        owner = self._owner
        with owner.listen(run) as changed:

            async def committed() -> None:
                await changed.wait()
                changed.clear()
                owner.check(run)

            async for entry in self._follow(run, after, committed):
                yield entry

    async def _follow(
        self, run: RunId, after: int, wait: Callable[[], Coroutine[None, None, None]]
    ) -> AsyncIterator[Entry]:
        while True:
            row = self._store.row(run)  # before the entries, which are complete if the run has ended
            if row is None:
                raise unknown_run(run)
            entries = self._store.entries(run, after, ENTRIES_PER_READ)
            for entry in entries:
                yield entry
                after = entry.number
            if not entries:
                if row.status in TERMINAL:
                    return
                await wait()
