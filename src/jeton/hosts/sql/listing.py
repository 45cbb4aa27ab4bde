"""Lists of a store for servers. What may be long is read on another thread."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import msgspec

from jeton.actor.journal import decode_entry
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
)
from jeton.actor.rows import FiringRow, RunRow
from jeton.hosts.sql.connection import Connection, Transact, Value
from jeton.hosts.sql.mirrors.credits import totals_in
from jeton.hosts.sql.mirrors.firings import numbered_firings
from jeton.hosts.sql.mirrors.sources import put_source, source_in, versions_in
from jeton.hosts.sql.store import AGENTS, RUN_COLUMNS, Store, run_row_of
from jeton.model.definition.agent import agent_of
from jeton.model.ids import RunId, names_below

_T = TypeVar("_T")
_NEWEST = "order by submitted_at desc, run desc limit ?"


class StorePlace(msgspec.Struct, frozen=True):
    """Where a store is: its size, the free space, its owner, and how many commits it has lost."""

    bytes: int
    free_bytes: int
    owner: str | None
    lost: int = 0


class SqlListing:
    """Fulfils `jeton.actor.queries.listing.Listing`."""

    def __init__(self, store: Store, write: Transact, place: Callable[[Connection], StorePlace]) -> None:
        self._place = place
        self._store = store
        self._write = write

    async def runs(self, wanted: RunFilter, after: RunPlace | None, look_at: int) -> RunPage:
        return await asyncio.to_thread(self._runs, wanted, after, look_at)

    async def tree(self, run: RunId, limit: int) -> list[RunRow]:
        return await asyncio.to_thread(self._tree, run, limit)

    async def started(self, workflow: str, key: str) -> RunId | None:
        found = self._store.start_key(workflow, key)
        return None if found is None else found.run

    async def versions(self, name: str) -> list[StoredVersion]:
        return await self._read(partial(versions_in, name=name))

    async def source(self, name: str, version: int) -> tuple[SourceText, ...]:
        return await self._read(partial(source_in, name=name, version=version))

    async def keep_source(self, versions: Mapping[str, int], files: Sequence[SourceText]) -> None:
        await self._write(partial(put_source, versions=versions, files=files))

    async def firings(self, trigger: str, before: int | None, limit: int) -> list[tuple[int, FiringRow]]:
        return await self._read(partial(numbered_firings, trigger=trigger, before=before, limit=limit))

    async def used(self, by: UsedBy, first: str | None, last: str | None) -> list[UsageTotal]:
        return await self._read(partial(totals_in, by=by, first=first, last=last))

    async def facts(self) -> StoreFacts:
        return await self._read(self._facts)

    async def _read(self, act: Callable[[Connection], _T]) -> _T:
        def read() -> _T:
            with self._store.snapshot() as db:
                return act(db)

        return await asyncio.to_thread(read)

    def _runs(self, wanted: RunFilter, after: RunPlace | None, look_at: int) -> RunPage:
        """An index gives the candidates, by workflow, status and time; the rest is compared row by row."""
        with self._store.snapshot() as db:
            equal = {} if wanted.workflow is None else {"workflow": wanted.workflow}
            if wanted.statuses:
                statuses = sorted(wanted.statuses)
                by_status = [_behind(db, {**equal, "status": each}, wanted, after, look_at) for each in statuses]
                found = sorted((row for rows in by_status for row in rows), key=place_of, reverse=True)[:look_at]
            else:
                found = _behind(db, equal, wanted, after, look_at)
        rows = tuple(row for row in found if fits(wanted, row) and agent_of(row.workflow) is None)
        return RunPage(rows, place_of(found[-1]) if len(found) == look_at else None)

    def _tree(self, run: RunId, limit: int) -> list[RunRow]:
        first, last = names_below(run)
        query = f"select {RUN_COLUMNS} from runs where run"
        with self._store.snapshot() as db:
            found = list(db.execute(f"{query} = ?", (run,)))
            found += list(db.execute(f"{query} > ? and run < ? order by run limit ?", (first, last, limit)))
        return sorted(map(run_row_of, found), key=place_of, reverse=True)[:limit] if found else []

    def _facts(self, db: Connection) -> StoreFacts:
        last: bytes | None = db.execute("select body from journal order by position desc limit 1").get
        place = self._place(db)
        return StoreFacts(
            bytes=place.bytes,
            free_bytes=place.free_bytes,
            entries=db.execute("select count(*) from journal").get,
            runs=_counted(db),
            owner=place.owner,
            last_commit_at=None if last is None else decode_entry(last).at,
            lost=place.lost,
        )


def _counted(db: Connection) -> dict[str, int]:
    """The runs by status, without conversations. Both counts are read off indexes."""
    found: dict[str, int] = dict(db.execute("select status, count(*) from runs group by status order by status"))
    for status, count in db.execute(f"select status, count(*) from runs where {AGENTS} group by status"):
        found[status] -= count
    return {status: count for status, count in found.items() if count}


def _behind(
    db: Connection, equal: Mapping[str, str], wanted: RunFilter, after: RunPlace | None, limit: int
) -> list[RunRow]:
    """Rows with these values of columns that have an index, newest first, behind a place and within the times."""
    where, values = [f"{column} = ?" for column in equal], list[Value](equal.values())
    if after is not None:
        where.append("(submitted_at, run) < (?, ?)")
        values += after
    elif wanted.until is not None:
        where.append("submitted_at < ?")
        values.append(wanted.until)
    if wanted.since is not None:
        where.append("submitted_at >= ?")
        values.append(wanted.since)
    query = f"select {RUN_COLUMNS} from runs {'where ' if where else ''}{' and '.join(where)} {_NEWEST}"
    return [run_row_of(found) for found in list(db.execute(query, (*values, limit)))]
