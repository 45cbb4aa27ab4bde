"""A server on loopback that does what servers should not: one trick per path. It notes what it hears and who stays."""

import asyncio
import gzip
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

import msgspec

BOMB = gzip.compress(bytes(10_000_000))


class Heard(msgspec.Struct, frozen=True):
    """One request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


Trick: TypeAlias = Callable[[Heard, asyncio.StreamWriter], Awaitable[None]]


class EvilServer:
    """Connections are counted: after a call, none may be left that is not idle."""

    def __init__(self) -> None:
        self.port = 0
        self.heard: list[Heard] = []
        self.open: set[asyncio.StreamWriter] = set()
        self.busy = 0
        self.tricks: dict[str, Trick] = dict(TRICKS)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def says(self, path: str, *answers: bytes) -> str:
        """Answer so, in turn; the last one again and again. Gives the url."""
        left = list(answers)

        async def answer(heard: Heard, writer: asyncio.StreamWriter) -> None:
            writer.write(left.pop(0) if len(left) > 1 else left[0])

        self.tricks[path] = answer
        return self.url + path

    async def quiet(self) -> None:
        """Wait until no request is under way; a test fails if that takes long."""
        async with asyncio.timeout(2):
            while self.busy:
                await asyncio.sleep(0.005)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.add(writer)
        try:
            while (heard := await _read(reader)) is not None:
                self.heard.append(heard)
                self.busy += 1
                try:
                    await self._trick(heard, reader, writer)
                finally:
                    self.busy -= 1
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.open.discard(writer)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _trick(self, heard: Heard, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until it is over, or until the other side is gone."""
        work = asyncio.ensure_future(_played(self.tricks[heard.path], heard, writer))
        gone = asyncio.ensure_future(_gone(reader))
        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        over = work.done()
        for each in (work, gone):
            each.cancel()
        await asyncio.wait((work, gone))
        if not over:
            raise ConnectionResetError
        work.result()


@asynccontextmanager
async def evil_server() -> AsyncGenerator[EvilServer]:
    """Listens on a free port of loopback while it is used."""
    evil = EvilServer()
    server = await asyncio.start_server(evil.serve, "127.0.0.1", 0)
    evil.port = server.sockets[0].getsockname()[1]
    try:
        yield evil
    finally:
        server.close()
        for writer in list(evil.open):
            writer.transport.abort()
        await server.wait_closed()
        async with asyncio.timeout(2):
            while evil.open:
                await asyncio.sleep(0.005)


def answer(body: bytes = b"", status: str = "200 OK", /, **headers: str) -> bytes:
    """An honest answer; `_` in a header's name stands for `-`."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join((*lines, "", "")).encode("latin-1") + body


def json_answer(value: object, status: str = "200 OK", /, **headers: str) -> bytes:
    return answer(msgspec.json.encode(value), status, Content_Type="application/json", **headers)


async def _read(reader: asyncio.StreamReader) -> Heard | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Heard(method, target, headers, body)


async def _gone(reader: asyncio.StreamReader) -> None:
    """The client sends nothing while it waits, so all that can come is the end."""
    with suppress(OSError):
        await reader.read(1)


async def _played(trick: Trick, heard: Heard, writer: asyncio.StreamWriter) -> None:
    await trick(heard, writer)
    await writer.drain()


async def _endless_body(heard: Heard, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


async def _gzip_bomb(heard: Heard, writer: asyncio.StreamWriter) -> None:
    writer.write(answer(BOMB, Content_Encoding="gzip"))


async def _empty_blocks(heard: Heard, writer: asyncio.StreamWriter) -> None:
    """Packed bytes without end that unpack to nothing at all."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"")[:10])
    while True:
        writer.write(b"\x00\x00\x00\xff\xff" * 10_000)
        await writer.drain()


async def _slow_drip(heard: Heard, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


async def _slow_headers(heard: Heard, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X: y\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def _silence(heard: Heard, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def _huge_headers(heard: Heard, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(100_000):
        writer.write(f"X-{number}: {'y' * 100}\r\n".encode())
        await writer.drain()


async def _for_ever_continue(heard: Heard, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.005)


async def _hang_up(heard: Heard, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def _half_a_body(heard: Heard, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    await writer.drain()
    writer.close()


async def _echo(heard: Heard, writer: asyncio.StreamWriter) -> None:
    body = {"method": heard.method, "target": heard.target, "headers": heard.headers, "body": heard.body.decode()}
    writer.write(json_answer(body, X_Echo=heard.headers.get("authorization", "none")))


async def _round_and_round(heard: Heard, writer: asyncio.StreamWriter) -> None:
    number = int(heard.target.partition("?")[2] or 0)
    writer.write(answer(b"", "302 Found", Location=f"/round?{number + 1}"))


TRICKS: dict[str, Trick] = {
    "/endless-body": _endless_body,
    "/gzip-bomb": _gzip_bomb,
    "/empty-blocks": _empty_blocks,
    "/slow-drip": _slow_drip,
    "/slow-headers": _slow_headers,
    "/silence": _silence,
    "/huge-headers": _huge_headers,
    "/continue": _for_ever_continue,
    "/hang-up": _hang_up,
    "/half": _half_a_body,
    "/echo": _echo,
    "/round": _round_and_round,
}
