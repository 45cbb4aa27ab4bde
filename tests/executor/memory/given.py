"""Stores of memories that the same tests run on."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from jeton.executor.memory import Hit, InMemoryStore, MemoryScope, MemoryStore, NewMemory, Query, Written
from jeton.hosts.sqlite import SqliteHost
from jeton.model.json import JsonObject

StoreKind = Literal["in memory", "sqlite"]
KINDS: tuple[StoreKind, ...] = ("in memory", "sqlite")
BEGIN_MS = 1_700_000_000_000
DAY_MS = 86_400_000

BOB, ANN = MemoryScope("bob"), MemoryScope("ann")


class Time:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = BEGIN_MS

    def __call__(self) -> int:
        return self.now


@asynccontextmanager
async def opened(kind: StoreKind, folder: Path, clock: Callable[[], int] | None = None) -> AsyncGenerator[MemoryStore]:
    """A new store."""
    if kind == "in memory":
        yield InMemoryStore() if clock is None else InMemoryStore(clock)
        return
    host = await SqliteHost.open(folder / "store.db", workers=None, clock=clock)
    try:
        yield host.memory
    finally:
        await host.close(0.0)


def of_user(user: str | None, agent: str = "bob") -> MemoryScope:
    return MemoryScope(agent, "user", user)


class Bench:
    """A store, and short forms of what is asked of it. Every write has a key of its own unless it is given one."""

    def __init__(self, store: MemoryStore, time: Time) -> None:
        self.store = store
        self.time = time
        self._keys = 0

    async def write(self, content: str, scope: MemoryScope = BOB, *, type: str = "fact", **more: Any) -> Written:
        self._keys += 1
        key = more.pop("key", f"r1:{self._keys}:1:s0")
        return await self.store.write(NewMemory(key, scope, type, content, **more))

    async def hits(self, text: str, scope: MemoryScope = BOB, **more: Any) -> list[Hit]:
        return await self.store.search(Query(scope, text, **more))

    async def found(self, text: str, scope: MemoryScope = BOB, **more: Any) -> list[str]:
        """The contents that a search finds, best first."""
        return [hit.memory.content for hit in await self.hits(text, scope, **more)]

    async def listed(self, scope: MemoryScope = BOB, **more: Any) -> list[str]:
        """The contents that a list has, newest first."""
        return [memory.content for memory in await self.store.list(scope, **more)]


def metadata(**given: Any) -> JsonObject:
    return dict(given)
