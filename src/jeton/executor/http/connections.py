"""Open connections, shared by the calls of an executor. Made at the first call, together with the client library."""

import importlib
import socket
import ssl
from functools import cache
from typing import TYPE_CHECKING, Protocol

from jeton.executor.http.egress import Egress
from jeton.executor.workers.thread_pool import ThreadPool

if TYPE_CHECKING:
    from httpcore2 import AsyncConnectionPool

MOST_POOLS = 16
MOST_CONNECTIONS = 256
MOST_IDLE = 32
IDLE_S = 5.0  # servers close idle connections too, and a call must not begin on one that is just being closed
RESOLVING = 16  # names resolved at a time, in threads of their own: functions of users may keep the others busy


class Resolver(Protocol):
    """Addresses of a host, as text, best first; raises OSError."""

    def __call__(self, host: str, port: int) -> list[str]: ...


def resolve(host: str, port: int) -> list[str]:
    """Ask the system, as any other program on this machine would."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Connections:
    """One pool for each set of rules: a connection that one project may use must not serve another that may not."""

    def __init__(self, resolver: Resolver = resolve, tls: ssl.SSLContext | None = None) -> None:
        self._resolver = resolver
        self._tls = tls
        self._is_loaded = False
        self._threads = ThreadPool(RESOLVING)
        self._pools: dict[Egress, AsyncConnectionPool] = {}

    async def load(self) -> None:
        """Import the client library, once, and in a thread, because that takes a while; so do the certificates."""
        if not self._is_loaded:
            certificates = await self._threads.run(_loaded)
            self._tls = self._tls or certificates
            self._is_loaded = True

    async def pool(self, egress: Egress) -> "AsyncConnectionPool":
        """The pool that follows these rules; the one that was not used for longest makes room."""
        known = egress in self._pools
        self._pools[egress] = self._pools.pop(egress) if known else self._opened(egress)
        while len(self._pools) > MOST_POOLS:
            await self._pools.pop(next(iter(self._pools))).aclose()
        return self._pools[egress]

    async def close(self) -> None:
        """Close what is open."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()
        self._threads.close()

    def _opened(self, egress: Egress) -> "AsyncConnectionPool":
        from httpcore2 import AsyncConnectionPool

        from jeton.executor.http.backend import GuardedBackend

        return AsyncConnectionPool(
            ssl_context=self._tls,
            max_connections=MOST_CONNECTIONS,
            max_keepalive_connections=MOST_IDLE,
            keepalive_expiry=IDLE_S,
            network_backend=GuardedBackend(egress, self._resolver, self._threads),
        )


@cache
def _loaded() -> ssl.SSLContext:
    importlib.import_module("jeton.executor.http.exchange")
    from httpcore2 import default_ssl_context

    return default_ssl_context()
