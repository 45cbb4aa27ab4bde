"""The tables of keys, sessions and saved queries."""

import asyncio
import builtins
from functools import partial
from typing import Any, cast

import msgspec

from jeton.actor.access.keys import ApiKey, SavedQuery, Scope, Session
from jeton.actor.whole.digests import row_digest
from jeton.hosts.sql.connection import Connection, Transact, upsert
from jeton.hosts.sql.store import Store

_KEY = "id, hash, name, scopes, person, created_at, expires_at, revoked_at"
_SESSION = "hash, key, created_at, expires_at"
_PUT_KEY = upsert("api_keys", ("id",), (*_KEY.split(", ")[1:], "digest"))
_PUT_SESSION = upsert("sessions", ("hash",), (*_SESSION.split(", ")[1:], "digest"))
_PUT_QUERY = upsert("queries", ("name",), ("q", "at", "digest"))
_PUT_PLACE = upsert("readers", ("name",), ("place", "digest"))


class SqlAccessStore:
    """Fulfils `jeton.actor.access.store.AccessStore`."""

    def __init__(self, store: Store, write: Transact) -> None:
        self._store = store
        self._write = write

    async def keys(self) -> builtins.list[ApiKey]:
        return await asyncio.to_thread(self._keys)

    def _keys(self) -> builtins.list[ApiKey]:
        with self._store.snapshot() as db:
            return [_key_of(row) for row in db.execute(f"select {_KEY} from api_keys order by created_at, id")]

    async def add_key(self, key: ApiKey) -> None:
        await self._write(partial(put_key, key=key))

    async def revoke_key(self, key: str, at: int) -> ApiKey | None:
        return await self._write(partial(revoke_key, key_id=key, at=at))

    async def sessions(self) -> builtins.list[Session]:
        return await asyncio.to_thread(self._sessions)

    def _sessions(self) -> builtins.list[Session]:
        with self._store.snapshot() as db:
            return [Session(*row) for row in db.execute(f"select {_SESSION} from sessions order by hash")]

    async def add_session(self, session: Session) -> None:
        await self._write(partial(put_session, session=session))

    async def end_session(self, hash: str) -> None:
        await self._write(partial(end_session, hash=hash))

    async def queries(self) -> builtins.list[SavedQuery]:
        return await asyncio.to_thread(self._queries)

    def _queries(self) -> builtins.list[SavedQuery]:
        with self._store.snapshot() as db:
            return [SavedQuery(*row) for row in db.execute("select name, q, at from queries order by name")]

    async def save_query(self, query: SavedQuery) -> None:
        await self._write(partial(put_query, query=query))

    async def remove_query(self, name: str) -> bool:
        return await self._write(partial(remove_query, name=name))

    async def place(self, reader: str) -> str | None:
        with self._store.snapshot() as db:
            found: str | None = db.execute("select place from readers where name = ?", (reader,)).get
        return found

    async def keep_place(self, reader: str, place: str) -> None:
        await self._write(partial(put_place, reader=reader, place=place))


def _key_of(row: tuple[Any, ...]) -> ApiKey:
    key_id, hashed, name, scopes, *rest = row
    return ApiKey(key_id, hashed, name, cast("tuple[Scope, ...]", tuple(scopes.split(","))), *rest)


def put_key(db: Connection, key: ApiKey) -> None:
    """Store a key, or what changed of it."""
    values = (
        *(key.id, key.hash, key.name, ",".join(key.scopes), key.person),
        *(key.created_at, key.expires_at, key.revoked_at),
    )
    db.execute(_PUT_KEY, (*values, row_digest("api_keys", *values)))


def revoke_key(db: Connection, key_id: str, at: int) -> ApiKey | None:
    """Revoke a key and end its sessions."""
    rows = list(db.execute(f"select {_KEY} from api_keys where id = ?", (key_id,)))
    if not rows:
        return None
    key = _key_of(rows[0])
    if key.revoked_at is None:
        key = msgspec.structs.replace(key, revoked_at=at)
        put_key(db, key)
        db.execute("delete from sessions where key = ?", (key_id,))
    return key


def put_session(db: Connection, session: Session) -> None:
    """Store a session, and remove those that have expired by its beginning."""
    db.execute("delete from sessions where expires_at <= ?", (session.created_at,))
    values = (session.hash, session.key, session.created_at, session.expires_at)
    digest = row_digest("sessions", *values)
    db.execute(_PUT_SESSION, (*values, digest))


def end_session(db: Connection, hash: str) -> None:
    """Remove a session."""
    db.execute("delete from sessions where hash = ?", (hash,))


def put_query(db: Connection, query: SavedQuery) -> None:
    """Store a query under its name."""
    values = (query.name, query.q, query.at)
    digest = row_digest("queries", *values)
    db.execute(_PUT_QUERY, (*values, digest))


def remove_query(db: Connection, name: str) -> bool:
    """Remove a saved query. Returns False if there was none."""
    return bool(list(db.execute("delete from queries where name = ? returning name", (name,))))


def put_place(db: Connection, reader: str, place: str) -> None:
    """Remember how far a reader of the line has come."""
    digest = row_digest("readers", reader, place)
    db.execute(_PUT_PLACE, (reader, place, digest))
