"""The tables of memories: what is written to them and deleted from them, in a transaction of the caller.

Such a transaction overwrites what it deletes (`secure_delete`). That alone is not enough: when SQLite moves rows to
other pages, copies of them stay behind where nothing is stored. So after a deletion all memories are written anew, to
pages that were cleared before.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from jeton.actor.whole.digests import DIGESTED, row_digest
from jeton.executor.artifacts import ArtifactReference
from jeton.executor.memory import Memory, MemoryScope, NewMemory, Source, Written
from jeton.executor.memory.contents import (
    HOLDER,
    MEDIA_TYPE,
    PREVIEW_LENGTH,
    check_current,
    content_hash,
    memory_id,
    place_words,
    searched_words,
    unknown_memory,
)
from jeton.hosts.sql.connection import Connection, Row, Value
from jeton.hosts.sql.mirrors.artifacts import hold, release
from jeton.model.failure import Refused
from jeton.model.ids import RunId

_KEY = "memory:"  # before the idempotency key of a call, in the table of such keys
_COLUMNS = next(each.columns for each in DIGESTED if each.table == "memories")
_NAMES = ", ".join(f'"{name}"' for name in _COLUMNS)  # one of them is a word of SQL
_INSERT = f"insert into memories({_NAMES}, digest) values({', '.join('?' * (len(_COLUMNS) + 1))})"
MEMORY_COLUMNS = (
    'id, agent, type, content, significance, created_at, updated_at, metadata, conversation, turn, tainted, "user",'
    " scope, superseded_by, artifact, size"
)

_encode = msgspec.json.Encoder(order="deterministic").encode
_written = msgspec.json.Decoder(Written).decode
_batch = msgspec.json.Decoder(list[Written]).decode


def put_memory(db: Connection, new: NewMemory, artifact: ArtifactReference | None, now: int) -> Written:
    """Write a memory, unless its call was made before, or the same is known."""
    before = written_by(db, new.key)
    if before is not None:
        return before
    hash = content_hash(new)
    known: str | None = db.execute("select id from memories where hash = ? and superseded_by is null", (hash,)).get
    written = Written(known or memory_id(new.key), known is not None)
    if new.supersedes not in (None, written.id):
        _supersede(db, new.scope, new.supersedes or "", written.id, now)
    if known is None:
        _insert(db, new, written.id, hash, artifact, now)
    _put_result(db, new.key, written)
    return written


def put_memories(db: Connection, key: str, new: Sequence[NewMemory], now: int) -> list[Written]:
    """Write several memories, unless the call that writes them was made before."""
    before = batch_written_by(db, key)
    if before is not None:
        return before
    written: list[Written] = []
    for each in new:
        try:
            written.append(put_memory(db, each, None, now))
        except Refused:  # of what it supersedes, and before anything was written
            written.append(put_memory(db, replace(each, supersedes=None), None, now))
    _put_result(db, key, written)
    return written


def _put_result(db: Connection, call: str, written: Written | list[Written]) -> None:
    key, result = _KEY + call, _encode(written)
    insert = "insert into once(key, call, result, digest, result_digest) values(?, ?, ?, ?, ?)"
    db.execute(insert, (key, call, result, row_digest("once", key, call), row_digest("once", key, result, None)))


def written_by(db: Connection, key: str) -> Written | None:
    """What a call has written, if it was made before."""
    found: bytes | None = db.execute("select result from once where key = ?", (_KEY + key,)).get
    return None if found is None else _written(found)


def batch_written_by(db: Connection, key: str) -> list[Written] | None:
    """What a call has written with several memories, if it was made before."""
    found: bytes | None = db.execute("select result from once where key = ?", (_KEY + key,)).get
    return None if found is None else _batch(found)


def forget_calls(db: Connection, run: RunId) -> None:
    """Forget which calls of a run have written what. The memories stay."""
    first = f"{_KEY}{run}:"
    db.execute("delete from once where key >= ? and key < ?", (first, f"{first}\U0010ffff"))


def _insert(db: Connection, new: NewMemory, id: str, hash: bytes, artifact: ArtifactReference | None, now: int) -> None:
    (number,), words = db.dialect.next_numbers(db, "memories"), searched_words(new.content)
    place, text = place_words(new.scope, new.type), " ".join(words)
    source = new.source.conversation, new.source.turn, int(new.source.tainted)
    long = (None, None) if artifact is None else (artifact.id, artifact.size)
    row: tuple[Value, ...] = (
        *(number, id, new.scope.agent, new.scope.of, new.scope.user, new.type),
        new.content if artifact is None else new.content[:PREVIEW_LENGTH],
        *(float(new.significance) + 0.0, _encode(new.metadata).decode(), *source, None, now, now),
        *(*long, hash, place, text, len(words)),
    )
    db.execute(_INSERT, (*row, row_digest("memories", *row)))
    db.dialect.index_memory(db, number, place, text)
    if new.vector is not None:
        numbers = number, new.vector.model, new.vector.values
        insert = "insert into memory_vectors(number, model, vector, digest) values(?, ?, ?, ?)"
        db.execute(insert, (*numbers, row_digest("memory_vectors", *numbers)))
    if artifact is not None:
        hold(db, RunId(HOLDER + id), artifact)


def _supersede(db: Connection, scope: MemoryScope, id: str, by: str, now: int) -> None:
    found = find_memory(db, scope, id)
    if found is None:
        raise unknown_memory(id)
    check_current(id, found.superseded_by)
    db.dialect.unindex_memory(db, id)
    stored = next(iter(list(db.execute(f"select {_NAMES} from memories where id = ?", (id,)))))
    row = {**dict(zip(_COLUMNS, stored, strict=True)), "superseded_by": by, "updated_at": now}
    update = "update memories set superseded_by = ?, updated_at = ?, digest = ? where id = ?"
    db.execute(update, (by, now, row_digest("memories", *row.values()), id))


def delete_memories(db: Connection, scope: MemoryScope, ids: Sequence[str]) -> list[Memory]:
    """Delete memories and every copy of them in the file. Returns those that were there."""
    found = [memory for memory in (find_memory(db, scope, id) for id in dict.fromkeys(ids)) if memory is not None]
    for memory in found:
        db.execute("delete from memory_vectors where number = (select number from memories where id = ?)", (memory.id,))
        db.execute("delete from memories where id = ?", (memory.id,))
        if memory.artifact is not None:
            release(db, RunId(HOLDER + memory.id), memory.artifact.id)
    if found:
        db.dialect.erase_deleted(db)
    return found


def find_memory(db: Connection, scope: MemoryScope, id: str) -> Memory | None:
    """The memory with an id, if it is of this scope."""
    where, values = within(scope)
    found = memories_in(db, f"id = ? and {where}", (id, *values))
    return found[0] if found else None


def within(scope: MemoryScope) -> tuple[str, tuple[Value, ...]]:
    """The condition that a memory is of a scope, with its values."""
    if scope.of == "all":
        return "agent = ?", (scope.agent,)
    return 'agent = ? and scope = ? and "user" is not distinct from ?', (scope.agent, scope.of, scope.user)


def memories_in(db: Connection, condition: str, values: Sequence[Value]) -> list[Memory]:
    """The memories for which a condition holds."""
    return [memory_of(row) for row in db.execute(f"select {MEMORY_COLUMNS} from memories where {condition}", values)]


def memories_after(db: Connection, scope: MemoryScope, number: int, limit: int) -> list[tuple[int, str]]:
    """The numbers and ids of the memories behind a number, oldest first."""
    where, values = within(scope)
    query = f"select number, id from memories where {where} and number > ? order by number limit ?"
    return [(number, id) for number, id in db.execute(query, (*values, number, limit))]


def memory_of(row: Row) -> Memory:
    """A memory as it is stored."""
    id, agent, type, content, significance, created_at, updated_at, metadata, *rest = row
    conversation, turn, tainted, user, scope, superseded_by, artifact, size = rest
    return Memory(
        id=id,
        agent=agent,
        type=type,
        content=content,
        significance=significance,
        created_at=created_at,
        updated_at=updated_at,
        metadata=msgspec.json.decode(metadata),
        source=Source(conversation, turn, bool(tainted)),
        user=user,
        scope=scope,
        superseded_by=superseded_by,
        artifact=None if artifact is None else ArtifactReference(artifact, MEDIA_TYPE, size),
    )
