"""How connections are opened: the address that was checked is the address connected to.

A name is resolved once per connection, here, and what is connected to is the number that came out of that. The client
library keeps the name for the certificate and the Host header, and never resolves it again.
"""

import logging
import time
from collections.abc import Iterable
from ipaddress import ip_address
from itertools import chain, zip_longest
from typing import Final

from httpcore2 import (
    SOCKET_OPTION,
    AnyIOBackend,
    AsyncNetworkBackend,
    AsyncNetworkStream,
    ConnectError,
    ConnectTimeout,
)

from jeton.executor.clock import LoopClock, TimedOut
from jeton.executor.http.connections import Resolver
from jeton.executor.http.egress import Address, AddressRefused, Egress
from jeton.executor.workers.thread_pool import ThreadPool

FIRST_S: Final = 2.0  # for an address that is not the last: half the world has an IPv6 address that leads nowhere
MOST_TRIED: Final = 6


def _only_the_event(record: logging.LogRecord) -> bool:
    """At level DEBUG the library would log what a server sent, where credentials may be repeated."""
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
        """A stream to one of the host's permitted addresses, tried in turn, both families first."""
        until = time.monotonic() + (timeout or FIRST_S * MOST_TRIED)
        addresses = self._egress.permitted(host, await self._addresses(host, port, until))
        tried = _alternating(addresses)[:MOST_TRIED]
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
        raise AddressRefused("calls go to addresses on the network only")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)

    async def _addresses(self, host: str, port: int, until: float) -> list[Address]:
        within_ms = max(int((until - time.monotonic()) * 1000), 1)
        try:
            found = await LoopClock().within(within_ms, self._threads.run(lambda: self._resolver(host, port)))
        except TimedOut:
            raise ConnectTimeout(f"the name '{host}' was not resolved in time") from None
        except (OSError, UnicodeError) as error:
            raise ConnectError(f"the name '{host}' cannot be resolved: {error}") from None
        return [ip_address(each) for each in found]


def _alternating(addresses: list[Address]) -> list[Address]:
    """In the order of the resolver, but with the families in turn."""
    first = addresses[0].version
    pairs = zip_longest(
        (each for each in addresses if each.version == first), (each for each in addresses if each.version != first)
    )
    return [each for each in chain.from_iterable(pairs) if each is not None]
