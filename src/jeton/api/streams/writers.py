"""Writing frames: to a socket, or as server-sent events."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing, suppress

from jeton.actor.access.keys import ApiKey
from jeton.api.app import Request, respond
from jeton.api.asgi import Receive, Send
from jeton.api.reading import read_query
from jeton.api.route import Answer
from jeton.api.state import ServerState
from jeton.api.streams.frames import CLOSING, ENDED, Frame
from jeton.api.streams.source import Stream, StreamQuery
from jeton.engine.engine import Engine
from jeton.model.failure import Refused

SEND_S = 10.0
CLOSE_S = 1.0
MAX_STREAMS = 1000
MAX_STREAMS_OF_KEY = 100


class Streams:
    """All streams of a server."""

    def __init__(self, engine: Engine, state: ServerState) -> None:
        self._engine = engine
        self._state = state
        self.open: dict[str, int] = {}  # by key
        self.by_kind = {"websocket": 0, "sse": 0}
        self.dropped: dict[str, int] = {}

    async def serve(self, request: Request, caller: ApiKey, receive: Receive, send: Send) -> None:
        """Serve one stream. Raises Refused before it has begun."""
        query = read_query(request.query, StreamQuery)
        sse = request.kind == "http"
        if sse and "text/event-stream" not in request.headers.get("accept", ""):
            problem = "a stream is a WebSocket, or server-sent events"
            raise Refused("bad_argument", problem, "upgrade, or send Accept: text/event-stream")
        if sse and (last := request.headers.get("last-event-id")):
            query = StreamQuery(query.run, query.conversation, last, query.trace)
        self._take(caller)
        try:
            stream = Stream(self._engine, self._state, caller, query)
            begun = await stream.open()
            if sse and not begun:
                await respond(request, Answer(status=204), send)
            elif sse:
                await self._count("sse", write_sse(stream.frames(), receive, send))
            else:
                await self._count("websocket", write_socket(stream.frames(), receive, send))
        finally:
            self.open[caller.id] -= 1

    def _take(self, caller: ApiKey) -> None:
        own = self.open.get(caller.id, 0)
        if own >= MAX_STREAMS_OF_KEY or sum(self.open.values()) >= MAX_STREAMS:
            problem = f"a key has at most {MAX_STREAMS_OF_KEY} streams, and the server {MAX_STREAMS}"
            raise Refused("too_many_streams", problem, "close one of them first")
        self.open[caller.id] = own + 1

    async def _count(self, kind: str, writing: Awaitable[str | None]) -> None:
        self.by_kind[kind] += 1
        try:
            dropped = await writing
        finally:
            self.by_kind[kind] -= 1
        if dropped is not None:
            self.dropped[dropped] = self.dropped.get(dropped, 0) + 1


def _code_name(code: int | None) -> str | None:
    """The name of what a stream was dropped for; None if it came to its end."""
    return None if code in (None, ENDED) else next((name for name, each in CLOSING.items() if each == code), "failed")


async def write_socket(source: AsyncGenerator[Frame, None], receive: Receive, send: Send) -> str | None:
    """Write frames to a socket until they end, the client leaves, or it does not read."""
    await send({"type": "websocket.accept"})
    heard = asyncio.ensure_future(_hear(receive))
    code: int | None = None
    try:
        async with aclosing(source):
            async for frame in _while(source, heard):
                try:
                    async with asyncio.timeout(SEND_S):
                        await send({"type": "websocket.send", "text": frame.body.decode()})
                except TimeoutError:
                    code = CLOSING["slow_reader"]
                    break
                code = frame.code
        if heard.done() and code is None:
            code = heard.result()
            if code is None:
                return None  # the client has left
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await send({"type": "websocket.close", "code": code or ENDED})
    finally:
        heard.cancel()
        await asyncio.gather(heard, return_exceptions=True)
    return _code_name(code)


async def _hear(receive: Receive) -> int | None:
    """Wait until the client leaves (None), or says something, which it must not (1008)."""
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            return None
        if message["type"] == "websocket.receive":
            return CLOSING["bad_argument"]


async def _while(
    source: AsyncGenerator[Frame, None], heard: "asyncio.Future[int | None] | asyncio.Future[None]"
) -> AsyncGenerator[Frame, None]:
    """The frames, for as long as nothing is heard of the client."""
    while True:
        following = asyncio.ensure_future(anext(source, None))
        await asyncio.wait((following, heard), return_when=asyncio.FIRST_COMPLETED)
        if not following.done():
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            return
        frame = following.result()
        if frame is None:
            return
        yield frame
        if heard.done():
            return


async def write_sse(source: AsyncGenerator[Frame, None], receive: Receive, send: Send) -> str | None:
    """Write frames as server-sent events."""
    headers = [
        (b"content-type", b"text/event-stream"),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-accel-buffering", b"no"),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    gone = asyncio.ensure_future(_gone(receive))
    code: int | None = None
    try:
        await send({"type": "http.response.body", "body": b"retry: 1000\n\n", "more_body": True})
        async with aclosing(source):
            async for frame in _while(source, gone):
                try:
                    async with asyncio.timeout(SEND_S):
                        await send({"type": "http.response.body", "body": _sse(frame), "more_body": True})
                except TimeoutError:
                    return "slow_reader"
                code = frame.code
        if not gone.done():
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
    return _code_name(code)


def _sse(frame: Frame) -> bytes:
    place = b"" if frame.pos is None else b"id: " + frame.pos.encode() + b"\n"
    return b"event: " + frame.kind.encode() + b"\n" + place + b"data: " + frame.body + b"\n\n"


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
