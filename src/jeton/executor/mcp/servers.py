"""The MCP servers that an executor is connected to: one connection per server, shared by all calls.

A server is started or reached at its first call, and again when it has ended, up to a number of times per minute. The
SDK is imported with the first server, in a thread.
"""

import asyncio
import importlib
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from jeton.executor.mcp.errors import Unavailable
from jeton.executor.mcp.settings import HttpServer, ServerSettings, StdioServer
from jeton.executor.secrets import SecretRef
from jeton.executor.workers.thread_pool import ThreadPool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from jeton.executor.mcp.client import Connection

MAX_SERVERS = 32
STARTS_PER_MINUTE = 5
MINUTE_S = 60.0

_canonical = msgspec.json.Encoder(order="deterministic").encode


class _Server:
    """One server of one project."""

    def __init__(self) -> None:
        self.connection: Connection | None = None
        self.opening: asyncio.Task[Connection] | None = None
        self.starts: deque[float] = deque(maxlen=STARTS_PER_MINUTE)


class McpServers:
    """All connections of an executor. Lives on one event loop."""

    def __init__(self) -> None:
        self._servers: dict[tuple[str, bytes, Path], _Server] = {}
        self._closed = False

    async def connect(
        self,
        name: str,
        settings: ServerSettings,
        folder: Path,
        threads: ThreadPool,
        secret: "Callable[[str], Awaitable[str]]",
    ) -> "Connection":
        """The connection to a server. Raises Unavailable, SecretUnavailable, or ImportError."""
        key = (name, _canonical(settings), folder)
        server = self._servers.pop(key, None) or _Server()
        self._servers[key] = server  # the last one is the one used last
        await self._drop_oldest()
        if server.connection is not None and server.connection.alive:
            return server.connection
        if server.opening is None:
            server.opening = asyncio.create_task(self._open(name, server, settings, folder, threads, secret))
            server.opening.add_done_callback(lambda done: _forget(server, done))
        return await asyncio.shield(server.opening)  # others may be waiting for it too

    async def close(self) -> None:
        """Close all connections, and end the programs behind them."""
        self._closed = True
        servers, self._servers = self._servers, {}
        await asyncio.gather(*(_close(server) for server in servers.values()))

    async def _open(
        self,
        name: str,
        server: _Server,
        settings: ServerSettings,
        folder: Path,
        threads: ThreadPool,
        secret: "Callable[[str], Awaitable[str]]",
    ) -> "Connection":
        if server.connection is not None:
            await server.connection.close()
            server.connection = None
        now = time.monotonic()
        if len(server.starts) == STARTS_PER_MINUTE and now - server.starts[0] < MINUTE_S:
            wait_ms = round((MINUTE_S - (now - server.starts[0])) * 1000)
            problem = f"it was started {STARTS_PER_MINUTE} times within a minute, and ended each time"
            raise Unavailable(problem, wait_ms)
        await threads.run(_import_sdk)
        opened = await _opened(name, settings, folder, secret)
        server.starts.append(now)
        try:
            await opened[0].open(opened[1])
        except BaseException:
            with suppress(Exception):
                await opened[0].close()
            raise
        server.connection = opened[0]
        if self._closed:
            await opened[0].close()
        return opened[0]

    async def _drop_oldest(self) -> None:
        while len(self._servers) > MAX_SERVERS:
            await _close(self._servers.pop(next(iter(self._servers))))


def _forget(server: _Server, done: "asyncio.Task[Connection]") -> None:
    server.opening = None
    if not done.cancelled():
        done.exception()  # whoever waited may be gone


async def _close(server: _Server) -> None:
    if server.opening is not None:
        server.opening.cancel()
        await asyncio.wait([server.opening])
    if server.connection is not None:
        await server.connection.close()


async def _opened(
    name: str, settings: ServerSettings, folder: Path, secret: "Callable[[str], Awaitable[str]]"
) -> "tuple[Connection, AbstractAsyncContextManager[Any]]":
    """A connection that is not open yet, and its transport."""
    from jeton.executor.mcp import http
    from jeton.executor.mcp.client import Connection
    from jeton.executor.mcp.stdio import Program

    match settings:
        case StdioServer():
            program = Program()
            env = await _resolved(settings.env, secret)
            place = folder if settings.cwd is None else folder / settings.cwd
            return Connection(name, program), program.connect(settings.command, env, place)
        case HttpServer(auth=auth):
            headers, credentials = await _resolved(settings.headers, secret), None
            if auth is not None:
                known = await _resolved({"id": auth.client_id, "secret": auth.client_secret}, secret)
                credentials = http.Credentials(auth.token_url, known["id"], known["secret"], auth.scope)
            return Connection(name, None), http.connect(settings.url, headers, credentials)


async def _resolved(
    values: "Mapping[str, str | SecretRef]", secret: "Callable[[str], Awaitable[str]]"
) -> dict[str, str]:
    return {
        name: await secret(value.secret) if isinstance(value, SecretRef) else value for name, value in values.items()
    }


def _import_sdk() -> None:
    """Import what needs the SDK. Raises ImportError if it is not installed."""
    importlib.import_module("jeton.executor.mcp.call")
