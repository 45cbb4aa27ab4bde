"""The memories of agents: list them, search them, read one, and delete some."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from jeton.engine.arguments import MOST_ROWS, check_maybe_texts, check_texts, check_whole
from jeton.engine.lookup import Lookup
from jeton.engine.views.memory import ForgottenMemory, MemoryView, hit_view, memory_view
from jeton.executor.memory import MemoryScope, Query, Vector
from jeton.executor.memory.contents import unknown_memory
from jeton.executor.memory.embedding import profile_in, vector_setting
from jeton.executor.memory.local_model import local_vector
from jeton.model.definition.agent import agent_bundle
from jeton.model.failure import Refused


class Memories:
    """The memories of one store, for people: without a user, all that an agent remembers."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._host = lookup.host

    async def list(
        self, agent: str, user: str | None, type: str | None, superseded: bool, after: str | None, limit: int
    ) -> tuple[MemoryView, ...]:
        """Memories, newest first; `after` is the last one of the previous page."""
        check_maybe_texts(type=type, after=after)
        check_whole("limit", limit, 1, MOST_ROWS)
        found = await self._host.memory.list(
            await self._scope(agent, user), type=type, superseded=superseded, after=after, limit=limit
        )
        return tuple(map(memory_view, found))

    async def search(
        self, agent: str, text: str, user: str | None, type: str | None, limit: int
    ) -> tuple[MemoryView, ...]:
        """Memories that have some of the words, or a similar meaning, best first."""
        check_texts(query=text)
        check_maybe_texts(type=type)
        check_whole("limit", limit, 1, MOST_ROWS)
        scope = await self._scope(agent, user)
        found = await self._host.memory.search(Query(scope, text, limit, type, await self._vector(agent, text)))
        return tuple(map(hit_view, found))

    async def get(self, agent: str, id: str) -> MemoryView:
        """One memory with all of its content."""
        check_texts(id=id)
        found = await self._host.memory.read(await self._scope(agent, None), id)
        if found is None:
            raise unknown_memory(id)
        return memory_view(found)

    async def delete(self, agent: str, ids: Sequence[str]) -> tuple[ForgottenMemory, ...]:
        """Delete memories for good: all of them, or none if one is not there."""
        check_texts(**{f"ids[{index}]": id for index, id in enumerate(ids)})
        scope = await self._scope(agent, None)
        for id in ids:
            if await self._host.memory.read(scope, id) is None:
                raise unknown_memory(id)
        gone = await self._host.memory.delete(scope, ids)
        return tuple(ForgottenMemory(each.id, each.conversations) for each in gone)

    async def export(self, agent: str, user: str | None) -> AsyncGenerator[MemoryView, None]:
        """All memories with all of their content, oldest first, also those that were superseded."""
        async for memory in self._host.memory.export(await self._scope(agent, user)):
            yield memory_view(memory)

    async def _scope(self, agent: str, user: str | None) -> MemoryScope:
        """Whose memories are meant. Raises Refused if there is no such agent, and never was one with memories."""
        check_texts(agent=agent)
        check_maybe_texts(user=user)
        everything = MemoryScope(agent, "all")
        deployed = await self._host.reads.bundle(agent_bundle(agent)) is not None
        if not deployed and not await self._host.memory.list(everything, superseded=True, limit=1):
            problem = f"there is no agent '{agent}' in this store, and no memory of one"
            raise Refused("unknown_agent", problem, "check the name, or deploy it")
        return everything if user is None else MemoryScope(agent, "user", user or None)

    async def _vector(self, agent: str, text: str) -> Vector | None:
        """The meaning of a query, if the agent's project has vectors that are made here."""
        found = await self._host.reads.bundle(agent_bundle(agent))
        setting = None if found is None else vector_setting(found[0].settings)
        if setting is None or profile_in(setting) is not None:
            return None
        try:
            return await asyncio.to_thread(local_vector, text)
        except Refused:  # the packages are missing here: words are enough
            return None
