"""One request to a sink: signed, to a permitted address, and bounded in time."""

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec

from jeton.executor import LoopClock, ThreadPool
from jeton.executor.http.connections import Connections
from jeton.executor.http.egress import AddressRefused, SettingsInvalid, egress_of
from jeton.executor.secrets import SecretStore, SecretUnavailable
from jeton.executor.secrets.signatures import signed
from jeton.telemetry.sinks.declared import Declared

if TYPE_CHECKING:  # slow to import, and most servers have no sinks
    from httpcore2 import Response

REQUEST_S = 15.0  # for the whole of a request
DRAIN_S = 1.0  # for the body of an answer
ANSWER_BYTES = 65_536  # are read of an answer, so that the connection can be used again
THREADS = 2  # which read secrets
USER_AGENT = "jeton"
UNWANTED = frozenset({400, 413, 415, 422})
"""An answer that says: I have read this event, and do not take it. Others say that something is wrong with the sink."""


class Posted(msgspec.Struct, frozen=True):
    """What came of a request. `problem` is None if the event was taken."""

    problem: str | None = None
    unwanted: bool = False
    retry_after_s: float | None = None


class Poster:
    """Sends events. Shared by all sinks of a server."""

    def __init__(self, connections: Connections | None = None) -> None:
        self._connections = connections or Connections()
        self._secrets = SecretStore()
        self._threads = ThreadPool(THREADS)

    async def post(self, declared: Declared, delivery: str, body: bytes) -> Posted:
        """Send an event once. Whatever goes wrong is a value."""
        try:
            async with asyncio.timeout(REQUEST_S):
                return await self._post(declared, delivery, body)
        except TimeoutError:
            return Posted(f"there was no answer within {REQUEST_S:g} seconds")
        except (AddressRefused, SettingsInvalid, SecretUnavailable, ValueError) as error:
            return Posted(str(error))
        except OSError as error:
            return Posted(f"the system refused: {error}")

    async def _post(self, declared: Declared, delivery: str, body: bytes) -> Posted:
        secret = await self._secrets.of(declared.settings).get(declared.sink.secret, LoopClock(), self._threads)
        headers = signed(secret, delivery, int(time.time()), body)
        await self._connections.load()
        from httpcore2 import NetworkError, ProtocolError, TimeoutException

        try:
            return await self._exchange(declared, headers, body)
        except (NetworkError, ProtocolError, TimeoutException) as error:
            return Posted(f"it cannot be reached: {type(error).__name__}")

    async def _exchange(self, declared: Declared, signature: dict[str, str], body: bytes) -> Posted:
        from httpcore2 import URL, NetworkError, ProtocolError

        from jeton.executor.http.response import retry_after_ms

        url = urlsplit(declared.sink.url)
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        address = URL(scheme=url.scheme.encode(), host=(url.hostname or "").encode(), port=url.port, target=target)
        headers = {"User-Agent": USER_AGENT, "Accept": "*/*", "Content-Type": "application/json", **signature}
        pool = await self._connections.pool(egress_of(declared.settings))
        async with pool.stream("POST", address, headers=list(headers.items()), content=body) as response:
            status = response.status
            if not 200 <= status < 300:
                given = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
                wait_ms = retry_after_ms(given.get("retry-after"), time.time())
                wait_s = None if wait_ms is None else wait_ms / 1000
                return Posted(f"it answered {status}", status in UNWANTED, wait_s)
            with suppress(TimeoutError, NetworkError, ProtocolError):  # it was taken, whatever else comes
                async with asyncio.timeout(DRAIN_S):
                    await _drain(response)
        return Posted()

    async def close(self) -> None:
        """Close all connections."""
        await self._connections.close()
        self._threads.close()


async def _drain(response: "Response") -> None:
    received = 0
    async for chunk in response.aiter_stream():
        received += len(chunk)
        if received > ANSWER_BYTES:
            return
