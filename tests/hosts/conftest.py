"""Hosts on real files, closed after their test."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from jeton.actor.workers import Workers
from jeton.hosts.sqlite import SqliteHost
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work

OpenHost = Callable[..., Awaitable[SqliteHost]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
async def open_host(path: Path) -> AsyncGenerator[OpenHost]:
    """Opens the store of the test, any number of times."""
    async with AsyncExitStack() as stack:

        async def open_it(workers: Workers | None = None, **options: Any) -> SqliteHost:
            host = await SqliteHost.open(path, workers=workers or TrivialWorkers(work), **options)
            stack.push_async_callback(host.close, 0.0)
            return host

        yield open_it
