"""Memories that live as long as their process: for tests and the simulated host."""

import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from hashlib import sha256

import msgspec

from jeton.executor.artifacts import ArtifactReference
from jeton.executor.memory.contents import (
    MEDIA_TYPE,
    PREVIEW_LENGTH,
    check_current,
    check_size,
    content_hash,
    is_long,
    memory_id,
    searched_words,
    unknown_memory,
)
from jeton.executor.memory.ranking import Statistics, query_words
from jeton.executor.memory.search import ranked
from jeton.executor.memory.store import Deleted, Hit, Memory, MemoryScope, NewMemory, Query, Vector, Written
from jeton.executor.memory.vectors import similarities
from jeton.model.definition.agent import MemoryPolicy
from jeton.model.failure import Refused


class _Row(msgspec.Struct):
    """A memory, with what it is found by."""

    memory: Memory
    content: str  # all of it
    words: Sequence[str]
    hash: bytes
    vector: Vector | None


class InMemoryStore:
    """Fulfils `jeton.executor.memory.MemoryStore`. Long content has a reference, and no file."""

    def __init__(
        self,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        policy: Callable[[str], MemoryPolicy | None] = lambda _: None,
    ) -> None:
        self._clock = clock
        self._policy = policy
        self._rows: dict[str, _Row] = {}
        self._written: dict[str, Written] = {}  # by key
        self._batches: dict[str, Sequence[Written]] = {}  # by key

    async def write(self, new: NewMemory) -> Written:
        check_size(new.content)
        return self._put(new)

    async def write_all(self, key: str, new: Sequence[NewMemory]) -> Sequence[Written]:
        if key not in self._batches:
            self._batches[key] = [self._put_anyway(each) for each in new]
        return self._batches[key]

    async def written(self, key: str) -> Sequence[Written] | None:
        return self._batches.get(key)

    def _put_anyway(self, new: NewMemory) -> Written:
        try:
            return self._put(new)
        except Refused:
            return self._put(msgspec.structs.replace(new, supersedes=None))

    def _put(self, new: NewMemory) -> Written:
        before = self._written.get(new.key)
        if before is not None:
            return before
        hash = content_hash(new)
        id = next((row.memory.id for row in self._rows.values() if row.hash == hash and _is_current(row)), None)
        written = Written(id or memory_id(new.key), id is not None)
        if new.supersedes not in (None, written.id):
            self._supersede(new.scope, new.supersedes or "", written.id)
        if not written.known:
            self._rows[written.id] = _Row(
                self._memory(new, written.id), new.content, searched_words(new.content), hash, new.vector
            )
        self._written[new.key] = written
        return written

    def _memory(self, new: NewMemory, id: str) -> Memory:
        now, content, artifact = self._clock(), new.content, None
        if is_long(content):
            body = content.encode()
            artifact = ArtifactReference(f"sha256:{sha256(body).hexdigest()}", MEDIA_TYPE, len(body))
            content = content[:PREVIEW_LENGTH]
        return Memory(
            id=id,
            agent=new.scope.agent,
            type=new.type,
            content=content,
            significance=new.significance,
            created_at=now,
            updated_at=now,
            metadata=new.metadata,
            source=new.source,
            user=new.scope.user,
            scope="user" if new.scope.of == "user" else "agent",
            artifact=artifact,
        )

    def _supersede(self, scope: MemoryScope, id: str, by: str) -> None:
        row = self._rows.get(id)
        if row is None or not _is_within(row, scope):
            raise unknown_memory(id)
        check_current(id, row.memory.superseded_by)
        row.memory = msgspec.structs.replace(row.memory, superseded_by=by, updated_at=self._clock())

    async def search(self, query: Query) -> list[Hit]:
        words = query_words(query.text)
        rows = [row for row in self._within(query.scope, query.type) if _is_current(row)]
        having = Counter(word for row in rows for word in {*row.words}.intersection(words))
        counts = {word: having[word] for word in words}
        found = Statistics(len(rows), sum(len(row.words) for row in rows), counts)
        vectors = [(row.memory.id, row.vector) for row in rows if row.vector is not None]
        similar = {} if query.vector is None else similarities(query.vector, vectors)
        return ranked(query, [(row.memory, row.words) for row in rows], found, similar, self._clock())

    async def read(self, scope: MemoryScope, id: str) -> Memory | None:
        row = self._rows.get(id)
        return _whole(row) if row is not None and _is_within(row, scope) else None

    async def delete(self, scope: MemoryScope, ids: Sequence[str]) -> list[Deleted]:
        gone = [self._rows.pop(row.memory.id) for row in self._within(scope) if row.memory.id in ids]
        return [Deleted(row.memory.id, _told_in(row.memory)) for row in gone]

    async def export(self, scope: MemoryScope) -> AsyncIterator[Memory]:
        for row in self._within(scope):
            yield _whole(row)

    async def policy(self, agent: str) -> MemoryPolicy | None:
        return self._policy(agent)

    def forget_run(self, run: str) -> None:
        """Forget which calls of a run have written what."""
        self._written = {key: each for key, each in self._written.items() if not key.startswith(f"{run}:")}
        self._batches = {key: each for key, each in self._batches.items() if not key.startswith(f"{run}:")}

    def _within(self, scope: MemoryScope, type: str | None = None) -> list[_Row]:
        return [row for row in self._rows.values() if _is_within(row, scope) and type in (None, row.memory.type)]

    async def list(
        self,
        scope: MemoryScope,
        *,
        type: str | None = None,
        superseded: bool = False,
        after: str | None = None,
        limit: int = 100,
    ) -> list[Memory]:
        found = [row.memory for row in self._within(scope, type) if superseded or _is_current(row)][::-1]
        if after is not None:
            order = [*self._rows]
            last = order.index(after) if after in order else -1
            found = [memory for memory in found if order.index(memory.id) < last]
        return found[:limit]


def _is_current(row: _Row) -> bool:
    return row.memory.superseded_by is None


def _is_within(row: _Row, scope: MemoryScope) -> bool:
    memory = row.memory
    if memory.agent != scope.agent:
        return False
    return scope.of == "all" or (memory.scope == scope.of and memory.user == scope.user)


def _whole(row: _Row) -> Memory:
    return msgspec.structs.replace(row.memory, content=row.content)


def _told_in(memory: Memory) -> tuple[str, ...]:
    return () if memory.source.conversation is None else (memory.source.conversation,)
