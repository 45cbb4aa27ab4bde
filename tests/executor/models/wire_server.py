"""A server on loopback that speaks the protocols of providers: streams, errors, and what they refuse.

It answers each request with the next of its planned answers. A protocol (`wire_protocols.py`) says how.
"""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Literal

import msgspec

from tests.executor.models.wire_protocols import PROTOCOLS, Answer, Protocol, Refusal

Fault = Literal["cut", "quiet", "garbage", "silent", "stalled"]
"""The socket is cut in the middle, the stream ends quietly, a piece is not JSON, nothing comes, nothing more comes."""


class Failing(msgspec.Struct, frozen=True):
    """An answer that is broken on its way."""

    fault: Fault
    answer: Answer


class Seen(msgspec.Struct, frozen=True):
    """A request as the server saw it."""

    path: str
    headers: dict[str, str]
    body: Any


class WireServer:
    """Answers from a plan."""

    def __init__(self, *plan: Answer | Refusal | Failing) -> None:
        self.plan = deque(plan)
        self.seen: list[Seen] = []
        self.base = ""
        self._connections: set[asyncio.Task[None]] = set()

    def url(self, protocol: str) -> str:
        """The base url of a provider."""
        return self.base + ("/v1" if protocol.startswith("openai") else "")

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, which may have many requests."""
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while (seen := await _read(reader)) is not None:
                self.seen.append(seen)
                await self._respond(seen, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # a cancelled connection would be logged as an error
        finally:
            self._connections.discard(task)
            writer.close()

    async def _respond(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        protocol = next((each for each in PROTOCOLS.values() if each.takes(seen.path)), None)
        if protocol is None:
            _send(writer, 404, {"error": {"message": f"no such path: {seen.path}", "type": "not_found_error"}})
            return
        if fixed := protocol.fixed(seen.path):
            _send(writer, 200, fixed)
            return
        planned = self.plan.popleft() if self.plan else Refusal(500, "the plan is over")
        wrong = protocol.refuses(seen.body)
        if wrong is not None:
            planned = Refusal(400, wrong)
        if isinstance(planned, Refusal):
            _send(writer, planned.status, protocol.error(planned), planned.headers)
        elif not (seen.body.get("stream") or "stream" in seen.path):
            _send(writer, 200, protocol.whole(planned.answer if isinstance(planned, Failing) else planned, seen.body))
        else:
            await _stream(writer, protocol, planned)

    async def close(self) -> None:
        for task in tuple(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)


@asynccontextmanager
async def serving(*plan: Answer | Refusal | Failing) -> AsyncGenerator[WireServer]:
    """A server that runs."""
    wire = WireServer(*plan)
    server = await asyncio.start_server(wire.handle, "127.0.0.1", 0)
    wire.base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield wire
    finally:
        server.close()
        await wire.close()


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(first.split(" ")[1].partition("?")[0], headers, json.loads(body) if body else {})


def _send(writer: asyncio.StreamWriter, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
    content = json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", "content-type: application/json", f"content-length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    writer.write("\r\n".join([*lines, "", ""]).encode() + content)


async def _stream(writer: asyncio.StreamWriter, protocol: Protocol, planned: Answer | Failing) -> None:
    fault = planned.fault if isinstance(planned, Failing) else None
    answer = planned.answer if isinstance(planned, Failing) else planned
    if fault == "silent":
        await asyncio.sleep(3600)
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    events = list(protocol.events(answer))
    for event in events if fault is None else events[: protocol.middle(events)]:
        _chunk(writer, event)
        await writer.drain()
    if fault == "garbage":
        _chunk(writer, protocol.named("{ this is not JSON"))
    if fault == "stalled":
        await asyncio.sleep(3600)
    if fault == "cut":
        writer.transport.abort()
        raise ConnectionError
    writer.write(b"0\r\n\r\n")
    with contextlib.suppress(ConnectionError):
        await writer.drain()


def _chunk(writer: asyncio.StreamWriter, event: str) -> None:
    data = event.encode()
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def texts(seen: Iterable[Seen]) -> str:
    """Everything that the server was sent, as one text."""
    return json.dumps([msgspec.to_builtins(each) for each in seen])
