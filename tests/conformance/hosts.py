"""How each host is opened, and how time passes on it. Everything else is the same: see `play`."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from jeton.actor.host import Host
from jeton.engine.engine import Engine
from jeton.engine.stores import open_host, verify_store
from jeton.executor import Executor
from jeton.testing import open_simulated


class Opened(NamedTuple):
    """An engine, the host below it, and how to wait for some milliseconds of the host's time."""

    engine: Engine
    host: Host
    sleep: Callable[[int], Awaitable[None]]


Open = Callable[[], AbstractAsyncContextManager[Opened]]


@asynccontextmanager
async def simulated() -> AsyncGenerator[Opened, None]:
    """In virtual time."""
    async with open_simulated() as (engine, host):
        yield Opened(engine, host, host.sleep)


@asynccontextmanager
async def sqlite() -> AsyncGenerator[Opened, None]:
    """On a file, in real time. The store is sound afterwards."""
    with TemporaryDirectory() as folder:
        store, workers = Path(folder, "store.db"), Executor()
        async with open_host(store, workers=workers, durability="full", owner=True, grace_s=0) as host:
            yield Opened(Engine(host), host, _sleep)
        assert verify_store(store).problems == ()


async def _sleep(ms: int) -> None:
    await asyncio.sleep(ms / 1000)
