"""The table of artifacts that runs hold. The files are in a folder beside the store."""

from collections.abc import Callable, Collection, Sequence
from functools import partial

from jeton.actor.whole.digests import row_digest
from jeton.executor.artifacts import ArtifactReference
from jeton.hosts.sql.connection import Connection, Transact
from jeton.hosts.sql.rows import Write
from jeton.hosts.sql.store import Store
from jeton.model.ids import RunId

IDS_PER_QUERY = 500


class SqlIndex:
    """Fulfils `jeton.executor.artifacts.Index`."""

    def __init__(self, store: Store, transact: Transact) -> None:
        self._store = store
        self._transact = transact

    async def add(self, run: RunId, reference: ArtifactReference) -> None:
        if reference not in self._held_by(run, reference.id):
            await self._transact(partial(hold, run=run, reference=reference))

    async def find(self, id: str) -> ArtifactReference | None:
        with self._store.snapshot() as db:
            query = "select id, media_type, size from artifacts where id = ? order by rowid limit 1"
            return next((ArtifactReference(*row) for row in db.execute(query, (id,))), None)

    async def held_by(self, run: RunId, limit: int) -> list[ArtifactReference]:
        with self._store.snapshot() as db:
            query = "select id, media_type, size from artifacts where run = ? order by id, media_type limit ?"
            return [ArtifactReference(*row) for row in db.execute(query, (run, limit))]

    async def remove(self, run: RunId, id: str) -> bool:
        removed: bool = await self._transact(partial(release, run=run, id=id))
        return removed

    async def release(self, first: str, last: str) -> None:
        await self._transact(partial(release_between, first=first, last=last))

    async def held(self, ids: Collection[str]) -> set[str]:
        wanted, found = list(ids), set[str]()
        with self._store.snapshot() as db:
            for first in range(0, len(wanted), IDS_PER_QUERY):
                some = wanted[first : first + IDS_PER_QUERY]
                query = f"select distinct id from artifacts where id in ({', '.join('?' * len(some))})"
                found.update(id for (id,) in db.execute(query, some))
        return found

    async def unless_held(self, id: str, act: Callable[[], None]) -> None:
        await self._transact(partial(_unless_held, id=id, act=act))

    def _held_by(self, run: RunId, id: str) -> list[ArtifactReference]:
        with self._store.snapshot() as db:
            query = "select id, media_type, size from artifacts where run = ? and id = ?"
            return [ArtifactReference(*row) for row in db.execute(query, (run, id))]


class InheritanceMirror:
    """Gives a run that was called with `inherit_artifacts` its caller's artifacts, with its first commit.

    Fulfils `jeton.hosts.sql.rows.Mirror`."""

    def write(self, db: Connection, writes: Sequence[Write]) -> None:
        for write in writes:
            parent = write.turn.head.parent if write.turn.first else None
            if parent is not None and parent.inherit_artifacts:
                held = db.execute("select id, media_type, size from artifacts where run = ?", (parent.run,))
                for row in list(held):
                    hold(db, write.actor.run, ArtifactReference(*row))


def hold(db: Connection, run: RunId, reference: ArtifactReference) -> None:
    """Record that a run holds an artifact."""
    query = "insert into artifacts(run, id, media_type, size, digest) values(?, ?, ?, ?, ?) on conflict do nothing"
    row = run, reference.id, reference.media_type, reference.size
    db.execute(query, (*row, row_digest("artifacts", *row)))


def release(db: Connection, run: RunId, id: str) -> bool:
    """Record that a run no longer holds an artifact. Returns False if it did not."""
    gone = db.execute("delete from artifacts where run = ? and id = ? returning 1", (run, id))
    return bool(list(gone))


def release_between(db: Connection, first: str, last: str) -> None:
    """Record that holders whose names are from `first` on, and before `last`, hold nothing any more."""
    db.execute("delete from artifacts where run >= ? and run < ?", (first, last))


def _unless_held(db: Connection, id: str, act: Callable[[], None]) -> None:
    """While the transaction lasts, no other process can begin to hold it."""
    if not db.execute("select exists(select 1 from artifacts where id = ?)", (id,)).get:
        act()
