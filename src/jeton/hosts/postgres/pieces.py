"""Contents of artifacts in the database, in pieces: every worker reads them, wherever it runs."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

from jeton.executor.artifacts import (
    COLLECT_AFTER_MS,
    MAX_BYTES,
    ArtifactIndex,
    ArtifactMissing,
    ArtifactReference,
    Artifacts,
    ArtifactTooLarge,
)
from jeton.hosts.sql.connection import Connection, Transact
from jeton.hosts.sql.store import Store

PIECE_BYTES = 256 * 1024
_Value = TypeVar("_Value")


class DatabaseArtifacts(Artifacts):
    """Artifacts whose contents are rows."""

    def __init__(self, index: ArtifactIndex, store: Store, transact: Transact) -> None:
        super().__init__(Path(), index)
        self._store = store
        self._transact = transact

    async def keep(
        self, chunks: AsyncIterator[bytes], media_type: str, hold: Callable[[ArtifactReference], Awaitable[_Value]]
    ) -> _Value:
        name, digest, size, part, waiting = f"upload:{token_hex(16)}", hashlib.sha256(), 0, 0, b""
        try:
            async for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                if size > MAX_BYTES:
                    raise ArtifactTooLarge(f"is larger than {MAX_BYTES} bytes, the limit of an artifact")
                waiting += chunk
                while len(waiting) >= PIECE_BYTES:
                    await self._transact(partial(_put, name=name, part=part, body=waiting[:PIECE_BYTES]))
                    part, waiting = part + 1, waiting[PIECE_BYTES:]
            await self._transact(partial(_put, name=name, part=part, body=waiting))
            reference = ArtifactReference(f"sha256:{digest.hexdigest()}", media_type, size)
            await self._transact(partial(_publish, name=name, id=reference.id))
            held = await hold(reference)
            if await asyncio.to_thread(self._read_part, reference.id, 0) is None:  # it was dropped meanwhile
                raise ArtifactMissing(f"{reference.id!r} was deleted while it was stored: store it again")
            return held
        finally:
            await self._transact(partial(_delete, name=name))

    async def content(self, id: str) -> bytes:
        return await asyncio.to_thread(self._content, id)

    async def stream(self, id: str) -> tuple[ArtifactReference, AsyncIterator[bytes]]:
        found = await self._index.find(id)
        if found is None:
            raise ArtifactMissing(f"there is no artifact {id!r}")
        await self.content(id)  # what is damaged is not given in parts
        return found, self._parts(id)

    async def _parts(self, id: str) -> AsyncIterator[bytes]:
        part = 0
        while body := await asyncio.to_thread(self._read_part, id, part):
            yield body
            part += 1

    async def drop(self, id: str) -> None:
        await self._transact(partial(_delete_unheld, id=id))

    async def collect(self, older_than_ms: int = COLLECT_AFTER_MS) -> int:
        deleted: int = await self._transact(partial(_collect, older_than_ms=older_than_ms))
        return deleted

    def _read_part(self, id: str, part: int) -> bytes | None:
        with self._store.snapshot() as db:
            found: bytes | None = db.execute("select body from pieces where name = ? and part = ?", (id, part)).get
        return found

    def _content(self, id: str) -> bytes:
        with self._store.snapshot() as db:
            damage, content = read_pieces(db, id)
        if damage is not None:
            raise ArtifactMissing(f"the content of {id!r} {damage}")
        return content


def read_pieces(db: Connection, id: str) -> tuple[str | None, bytes]:
    """What is wrong with the content of an artifact, if anything, and the content."""
    pieces = [body for (body,) in db.execute("select body from pieces where name = ? order by part", (id,))]
    content = b"".join(pieces)
    if not pieces:
        return "is missing", b""
    return (None if f"sha256:{hashlib.sha256(content).hexdigest()}" == id else "was altered"), content


def _put(db: Connection, name: str, part: int, body: bytes) -> None:
    db.execute("insert into pieces(name, part, body) values(?, ?, ?)", (name, part, body))


def _publish(db: Connection, name: str, id: str) -> None:
    """Give an upload its name, unless the same content is there."""
    db.dialect.lock(db, f"artifact {id}")
    if db.execute("select 1 from pieces where name = ? limit 1", (id,)).get is None:
        db.execute("update pieces set name = ?, at = now() where name = ?", (id, name))
    else:
        db.execute("update pieces set at = now() where name = ? and part = 0", (id,))


def _delete(db: Connection, name: str) -> None:
    db.execute("delete from pieces where name = ?", (name,))


def _delete_unheld(db: Connection, id: str) -> None:
    db.dialect.lock(db, f"artifact {id}")
    db.execute("delete from pieces where name = ?1 and not exists(select 1 from artifacts where id = ?1)", (id,))


def _collect(db: Connection, older_than_ms: int) -> int:
    unused = (
        "select name from pieces where part = 0 and at <= now() - ? * interval '1 millisecond'"
        " and not exists(select 1 from artifacts where id = pieces.name)"
    )
    return len(set(db.execute(f"delete from pieces where name in ({unused}) returning name", (older_than_ms,))))
