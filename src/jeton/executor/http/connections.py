"""Connection pools, shared by the calls of an executor. Created at the first call, with the client library."""

import importlib
import socket
import ssl
from functools import cache
from typing import TYPE_CHECKING, Protocol

from jeton.executor.http.egress import Egress
from jeton.executor.workers.thread_pool import ThreadPool

if TYPE_CHECKING:
    from httpcore2 import AsyncConnectionPool

MAX_POOLS = 16
MAX_CONNECTIONS = 256
MAX_IDLE = 32
IDLE_S = 5.0  # shorter than that of servers, which close idle connections too
RESOLVER_THREADS = 16  # separate from the threads of users' functions, which may all be busy


class Resolver(Protocol):
    """Resolves a host to addresses, best first. Raises OSError."""

    def __call__(self, host: str, port: int) -> list[str]: ...


def resolve(host: str, port: int) -> list[str]:
    """Resolve a host with the resolver of the system."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Connections:
    """A pool for each set of egress rules, because projects may not share connections that only one may open."""

    def __init__(self, resolver: Resolver = resolve, tls: ssl.SSLContext | None = None) -> None:
        self._resolver = resolver
        self._tls = tls
        self._is_loaded = False
        self._threads = ThreadPool(RESOLVER_THREADS)
        self._pools: dict[Egress, AsyncConnectionPool] = {}

    async def load(self) -> None:
        """Import the client library and load the certificates, once, in a thread because both are slow."""
        if not self._is_loaded:
            certificates = await self._threads.run(_loaded)
            self._tls = self._tls or certificates
            self._is_loaded = True

    async def pool(self, egress: Egress) -> "AsyncConnectionPool":
        """The pool for these rules. If there are too many, the least recently used one is closed."""
        known = egress in self._pools
        self._pools[egress] = self._pools.pop(egress) if known else self._opened(egress)
        while len(self._pools) > MAX_POOLS:
            await self._pools.pop(next(iter(self._pools))).aclose()
        return self._pools[egress]

    async def close(self) -> None:
        """Close all connections."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()
        self._threads.close()

    def _opened(self, egress: Egress) -> "AsyncConnectionPool":
        from httpcore2 import AsyncConnectionPool

        from jeton.executor.http.backend import GuardedBackend

        return AsyncConnectionPool(
            ssl_context=self._tls,
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=MAX_IDLE,
            keepalive_expiry=IDLE_S,
            network_backend=GuardedBackend(egress, self._resolver, self._threads),
        )


@cache
def _loaded() -> ssl.SSLContext:
    importlib.import_module("jeton.executor.http.exchange")
    from httpcore2 import default_ssl_context

    return default_ssl_context()
