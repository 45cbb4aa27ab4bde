"""Queries on a store in PostgreSQL. Commits of other workers are looked for from time to time."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Protocol

from jeton.actor.definitions import Bundles
from jeton.hosts.sql.reads import SqlReads
from jeton.hosts.sql.store import Store
from jeton.model.entry import Entry
from jeton.model.ids import RunId

POLL_S = 0.1


class Committed(Protocol):
    """Whoever knows of commits."""

    async def committed(self, run: RunId | None) -> None:
        """Wait until a run, or any, may have gone on."""
        ...


class PgReads(SqlReads):
    """Fulfils `jeton.actor.host.Reads`."""

    def __init__(self, store: Store, bundles: Bundles, host: Committed) -> None:
        super().__init__(store, bundles, None)
        self._host = host

    async def changed(self, after: int, run: RunId | None = None) -> None:
        while (await asyncio.to_thread(self._line.head)) <= after:
            await self._host.committed(None)

    async def watch(self, run: RunId, after: int = -1) -> AsyncIterator[Entry]:
        async for entry in self._follow(run, after, partial(self._host.committed, run)):
            yield entry
