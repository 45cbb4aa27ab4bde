"""A real HTTP server on loopback that takes webhooks, and misbehaves when it is told to."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

SECRET = "sink-secret-of-the-tests"
Behaviour = Callable[[Any], "int | None"]
"""What to answer to a request with this body: a status; None: nothing at all, for ever."""


class Taken(NamedTuple):
    """A request that was answered with 2xx."""

    id: str
    body: Any


class Receiver:
    """Takes webhooks. Everything that comes must be signed."""

    def __init__(self) -> None:
        self.taken: list[Taken] = []
        self.asked: list[str] = []  # ids, taken or not
        self.behave: Behaviour = lambda body: 204
        self.port = 0
        self._changed = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks?from=jeton"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Be gone: nobody can connect any more."""
        if self._server is not None:
            self._server.close()
            for writer in list(self._connections):
                writer.transport.abort()
            self._server = None

    async def until(self, enough: Callable[[], bool]) -> None:
        """Wait until something holds, which is looked at after each request."""
        async with asyncio.timeout(30):
            while not enough():
                self._changed.clear()
                await self._changed.wait()

    @property
    def types(self) -> list[str]:
        """The types of what was taken, in order, each once."""
        return [body["type"] for body in {each.id: each.body for each in self.taken}.values()]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        try:
            while await self._answered(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._connections.discard(writer)
            writer.close()

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(_pair(line) for line in head[1:] if line)
        body = await reader.readexactly(int(headers["content-length"]))
        assert head[0] == "POST /hooks?from=jeton HTTP/1.1"
        assert headers["webhook-signature"] == signature(headers["webhook-id"], headers["webhook-timestamp"], body)
        data = json.loads(body)
        self.asked.append(headers["webhook-id"])
        status = self.behave(data)
        if status is None:
            self._changed.set()
            await reader.read()  # until the other side gives up
            return False
        if 200 <= status < 300:
            self.taken.append(Taken(headers["webhook-id"], data))
        location = "Location: http://127.0.0.1:9/\r\n" if 300 <= status < 400 else ""
        writer.write(f"HTTP/1.1 {status} So\r\n{location}Content-Length: 0\r\n\r\n".encode())
        await writer.drain()
        self._changed.set()
        return True


def _pair(line: str) -> tuple[str, str]:
    name, value = line.split(": ", 1)
    return name.lower(), value


def signature(name: str, at: str, body: bytes) -> str:
    """As Standard Webhooks says, written down once more."""
    made = hmac.new(SECRET.encode(), f"{name}.{at}.".encode() + body, hashlib.sha256)
    return "v1," + base64.b64encode(made.digest()).decode()


@asynccontextmanager
async def receiving() -> AsyncGenerator[Receiver, None]:
    receiver = Receiver()
    await receiver.start()
    try:
        yield receiver
    finally:
        await receiver.stop()


def once(*statuses: "int | None", then: int = 204) -> Behaviour:
    """Answer with these, one after the other, and then always with the same."""
    left = list(statuses)
    return lambda body: left.pop(0) if left else then
