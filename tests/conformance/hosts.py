"""How each host is opened, and how time passes on it. Everything else is the same: see `play`."""

import asyncio
import atexit
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from jeton.actor.host import Host
from jeton.engine.engine import Engine
from jeton.engine.stores import Durability, open_host, verify_store
from jeton.executor import Executor
from jeton.testing import open_simulated
from tests.postgres import Server, running


class Opened(NamedTuple):
    """An engine, the host below it, how to wait for some milliseconds of the host's time, and what users see of it.

    `face` is the engine itself, or that of a server (`remote`), which has its methods."""

    engine: Engine
    host: Host
    sleep: Callable[[int], Awaitable[None]]
    face: Engine
    remote: bool = False


Open = Callable[[], AbstractAsyncContextManager[Opened]]


@asynccontextmanager
async def simulated() -> AsyncGenerator[Opened, None]:
    """In virtual time."""
    async with open_simulated() as (engine, host):
        yield Opened(engine, host, host.sleep, engine)


@asynccontextmanager
async def sqlite(durability: Durability = "full") -> AsyncGenerator[Opened, None]:
    """On a file, in real time. The store is sound afterwards."""
    with TemporaryDirectory() as folder:
        store, workers = Path(folder, "store.db"), Executor()
        async with open_host(store, workers=workers, durability=durability, owner=True, grace_s=0) as host:
            engine = Engine(host)
            yield Opened(engine, host, _sleep, engine)
        assert verify_store(store).problems == ()


@cache
def _server() -> Server:
    """One for all tests of this process. Nothing in it outlives the process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(running())


@asynccontextmanager
async def postgres_store() -> AsyncGenerator[str, None]:
    """A store in a database of its own. It is sound afterwards."""
    server = await asyncio.to_thread(_server)
    url = await asyncio.to_thread(server.new_store)
    try:
        yield url
        problems = await asyncio.to_thread(verify_store, url)
        assert problems.problems == ()
    finally:
        await asyncio.to_thread(server.drop, url)


@asynccontextmanager
async def postgres() -> AsyncGenerator[Opened, None]:
    """In a database, in real time, with one worker."""
    async with postgres_store() as url:
        workers = Executor()
        async with open_host(url, workers=workers, durability="full", owner=True, grace_s=0) as host:
            engine = Engine(host)
            yield Opened(engine, host, _sleep, engine)


async def _sleep(ms: int) -> None:
    await asyncio.sleep(ms / 1000)
