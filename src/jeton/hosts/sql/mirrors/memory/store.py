"""The store of memories in a SQLite file."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import TypeVar

import msgspec

from jeton.actor.definitions import Bundles
from jeton.executor.artifacts import ArtifactReference, Artifacts, single_chunk
from jeton.executor.memory import Deleted, Hit, Memory, MemoryScope, NewMemory, Query, Written
from jeton.executor.memory.contents import MEDIA_TYPE, check_size, is_long
from jeton.hosts.sql.connection import Connection, Transact
from jeton.hosts.sql.mirrors.memory.rows import (
    batch_written_by,
    delete_memories,
    find_memory,
    memories_after,
    memories_in,
    put_memories,
    put_memory,
    within,
    written_by,
)
from jeton.hosts.sql.mirrors.memory.search import search_memories
from jeton.hosts.sql.mirrors.memory.traces import told_in
from jeton.hosts.sql.store import Store
from jeton.model.definition.agent import MemoryPolicy, agent_bundle
from jeton.model.definition.workflow import memory_policy
from jeton.model.failure import Refused

ROWS_PER_READ = 500

_Value = TypeVar("_Value")


class SqlMemoryStore:
    """Fulfils `jeton.executor.memory.MemoryStore`. `transact` overwrites what it deletes.

    Without ownership (`owned`), memories can be read and deleted."""

    def __init__(
        self,
        store: Store,
        transact: Transact,
        artifacts: Artifacts,
        bundles: Bundles,
        clock: Callable[[], int],
        *,
        owned: bool,
    ) -> None:
        self._store = store
        self._transact = transact
        self._artifacts = artifacts
        self._bundles = bundles
        self._clock = clock
        self._owned = owned

    async def write(self, new: NewMemory) -> Written:
        self._require_owner()
        check_size(new.content)
        if not is_long(new.content):
            return await self._put(new, None)
        before = await self._read(partial(written_by, key=new.key))
        if before is not None:
            return before
        content = single_chunk(new.content.encode())
        return await self._artifacts.keep(content, MEDIA_TYPE, partial(self._put, new))

    async def _put(self, new: NewMemory, artifact: ArtifactReference | None) -> Written:
        written: Written = await self._transact(partial(put_memory, new=new, artifact=artifact, now=self._clock()))
        return written

    async def write_all(self, key: str, new: Sequence[NewMemory]) -> Sequence[Written]:
        self._require_owner()
        written: list[Written] = await self._transact(partial(put_memories, key=key, new=new, now=self._clock()))
        return written

    async def written(self, key: str) -> Sequence[Written] | None:
        return await self._read(partial(batch_written_by, key=key))

    async def search(self, query: Query) -> list[Hit]:
        return await self._read(partial(search_memories, query=query, now=self._clock()))

    async def read(self, scope: MemoryScope, id: str) -> Memory | None:
        found = await self._read(partial(find_memory, scope=scope, id=id))
        return None if found is None else await self._whole(found)

    async def delete(self, scope: MemoryScope, ids: Sequence[str]) -> list[Deleted]:
        gone: list[Memory] = await self._transact(partial(delete_memories, scope=scope, ids=ids))
        for memory in gone:
            if memory.artifact is not None:
                await self._artifacts.drop(memory.artifact.id)
        return [Deleted(memory.id, await self._read(partial(told_in, memory=memory))) for memory in gone]

    async def export(self, scope: MemoryScope) -> AsyncIterator[Memory]:
        after = 0
        while page := await self._read(partial(memories_after, scope=scope, number=after, limit=ROWS_PER_READ)):
            after = page[-1][0]
            for _, id in page:
                found = await self.read(scope, id)
                if found is not None:  # it may be gone by now
                    yield found

    async def policy(self, agent: str) -> MemoryPolicy | None:
        found = self._bundles.find(agent_bundle(agent))
        return None if found is None else memory_policy(found[0], agent)

    def _require_owner(self) -> None:
        if not self._owned:
            raise Refused("not_owner", "memories are written by the owner of the store", "open it as its owner")

    async def _whole(self, memory: Memory) -> Memory:
        if memory.artifact is None:
            return memory
        content = await self._artifacts.content(memory.artifact.id)
        return msgspec.structs.replace(memory, content=content.decode())

    async def _read(self, query: Callable[[Connection], _Value]) -> _Value:
        def read() -> _Value:
            with self._store.snapshot() as db:
                return query(db)

        return await asyncio.to_thread(read)

    async def list(
        self,
        scope: MemoryScope,
        *,
        type: str | None = None,
        superseded: bool = False,
        after: str | None = None,
        limit: int = 100,
    ) -> list[Memory]:
        where, values = within(scope)
        if type is not None:
            where, values = f"{where} and type = ?", (*values, type)
        if not superseded:
            where = f"{where} and superseded_by is null"
        if after is not None:
            where = f"{where} and number < (select number from memories where id = ?)"
            values = (*values, after)
        found = partial(memories_in, condition=f"{where} order by number desc limit ?", values=(*values, limit))
        return await self._read(found)
