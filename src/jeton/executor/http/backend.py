"""Open connections to checked addresses only.

A host name is resolved once per connection, here, and the connection goes to the resolved address that was checked. The
client library uses the name for the certificate and the Host header, and never resolves it.
"""

import logging
import time
from collections.abc import Iterable
from ipaddress import ip_address
from itertools import chain, zip_longest
from typing import Final

from httpcore2 import SOCKET_OPTION, AnyIOBackend, AsyncNetworkBackend, AsyncNetworkStream, ConnectError, ConnectTimeout

from jeton.executor.clock import LoopClock, TimedOut
from jeton.executor.http.connections import Resolver
from jeton.executor.http.egress import Address, AddressRefused, Egress
from jeton.executor.workers.thread_pool import ThreadPool

FIRST_S: Final = 2.0  # timeout of every address but the last: many hosts have an unreachable IPv6 address
MAX_ADDRESSES_TRIED: Final = 6


def _only_the_event(record: logging.LogRecord) -> bool:
    """Keep only the name of the event: at level DEBUG the library logs what servers sent, which may contain secrets."""
    record.msg, record.args = str(record.msg).partition(" ")[0], None
    return True


for _logger in ("httpcore2.connection", "httpcore2.http11"):
    logging.getLogger(_logger).addFilter(_only_the_event)


class GuardedBackend(AsyncNetworkBackend):
    """Connects to permitted addresses only."""

    def __init__(
        self, egress: Egress, resolver: Resolver, threads: ThreadPool, inner: AsyncNetworkBackend | None = None
    ) -> None:
        self._egress = egress
        self._resolver = resolver
        self._threads = threads
        self._inner = inner or AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """Connect to one of the host's permitted addresses, tried in turn, alternating between IPv4 and IPv6."""
        until = time.monotonic() + (timeout or FIRST_S * MAX_ADDRESSES_TRIED)
        addresses = self._egress.permitted(host, await self._addresses(host, port, until))
        tried = _alternating(addresses)[:MAX_ADDRESSES_TRIED]
        for address in tried[:-1]:
            try:
                within = min(FIRST_S, (until - time.monotonic()) / 2)
                return await self._inner.connect_tcp(str(address), port, max(within, 0))
            except (ConnectError, ConnectTimeout):
                continue
        return await self._inner.connect_tcp(str(tried[-1]), port, max(until - time.monotonic(), 0))

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[SOCKET_OPTION] | None = None
    ) -> AsyncNetworkStream:
        raise AddressRefused("Unix sockets are not allowed")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)

    async def _addresses(self, host: str, port: int, until: float) -> list[Address]:
        within_ms = max(int((until - time.monotonic()) * 1000), 1)
        try:
            found = await LoopClock().within(within_ms, self._threads.run(lambda: self._resolver(host, port)))
        except TimedOut:
            raise ConnectTimeout(f"resolving '{host}' timed out") from None
        except (OSError, UnicodeError) as error:
            raise ConnectError(f"'{host}' cannot be resolved: {error}") from None
        return [ip_address(each) for each in found]


def _alternating(addresses: list[Address]) -> list[Address]:
    """The addresses in the order of the resolver, but alternating between the families."""
    first = addresses[0].version
    pairs = zip_longest(
        (each for each in addresses if each.version == first), (each for each in addresses if each.version != first)
    )
    return [each for each in chain.from_iterable(pairs) if each is not None]
