"""The frames of one stream, made as its reader takes them: the next is not made before the last was sent.

So a reader has a position and no queue. What it has not taken is in the store; only pieces of answers are kept for it,
and few of them."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

import msgspec

from jeton.actor.access.keys import ApiKey
from jeton.api.problems import refusal_of, status_of
from jeton.api.state import ServerState
from jeton.api.streams import frames
from jeton.api.streams.frames import Frame
from jeton.engine.engine import Engine
from jeton.engine.look.line import LineReader
from jeton.engine.look.position import LineEntry, Position, position_in
from jeton.engine.views.events import trace_in
from jeton.model.chat import Delta
from jeton.model.failure import Refused
from jeton.model.json import JsonObject
from jeton.model.state.run import TERMINAL
from jeton.model.times import rfc3339

log = logging.getLogger("jeton.server")
PAGE = 100
SERVER_ERROR = 500
LOOK_S = 1.0  # how often a silent stream looks whether its key can still be used
MAX_DELTAS = 1000
MAX_DELTA_BYTES = 1 << 20


class StreamQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is streamed: a run with the runs it called, a conversation, or what happens to all runs."""

    run: str | None = None
    conversation: str | None = None
    after: str | None = None
    trace: bool = False


class Stream:
    """One stream: opened before anything is sent, so that whatever is refused is refused as an HTTP problem."""

    def __init__(self, engine: Engine, state: ServerState, caller: ApiKey, query: StreamQuery) -> None:
        self._engine = engine
        self._state = state
        self._caller = caller
        self._query = query
        self._root = query.run or query.conversation
        self._deltas: deque[Delta] = deque()
        self._delta_bytes = 0
        self._woken = asyncio.Event()
        self._overrun = False
        self._stop: Callable[[], None] = lambda: None
        self._reader: LineReader
        self._sent: Position
        self._ended: str | None = None  # the status of the root run, once its end was sent

    async def open(self) -> bool:
        """Find the place to begin at. Returns False if nothing will ever follow it. Raises Refused."""
        query = self._query
        if query.run is not None and query.conversation is not None:
            raise Refused("ambiguous", "a run and a conversation are named", "name one of them")
        if query.conversation is not None:
            await self._engine.converse("", conversation=query.conversation)
        status = None if self._root is None else (await self._engine.get(self._root)).status
        after = await self._after(query.after)
        self._reader = await self._engine.line_reader(self._root, after)
        self._sent = self._reader.position
        self._first = await self._reader.read(PAGE)  # refuses what cannot be read
        nothing_left = status in TERMINAL and self._reader.ended and not any(self._shown(self._first))
        return not (nothing_left and query.after is not None and query.after != "head")

    async def _after(self, text: str | None) -> Position | None:
        if text is None:
            return None
        if text == "head":
            return await self._engine.head()
        if text.lstrip("-").isdigit():
            if self._root is None:
                raise Refused("bad_cursor", "a sequence number is one of a run", "name the run, or use a position")
            return await self._engine.position(self._root, int(text))
        return position_in(text)

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """All frames, until the end of the run, or a reason to stop."""
        settings = self._state.settings
        head = await self._engine.head()
        yield frames.hello(self._sent, head, self._state.id, settings.heartbeat_ms)
        if self._query.conversation is not None:
            self._stop = self._engine.listen_to_deltas(self._query.conversation, self._on_delta)
        try:
            async for frame in self._until_stopped():
                yield frame
        except Exception as error:  # it has begun: no other answer can be given any more
            refused = refusal_of(error)
            if status_of(refused.code) >= SERVER_ERROR:
                log.error("a stream failed", exc_info=error)
            yield frames.bye(refused, self._sent)
        finally:
            self._stop()

    async def _until_stopped(self) -> AsyncGenerator[Frame, None]:
        told, page = False, self._first
        loop = asyncio.get_running_loop()
        last = loop.time()
        while True:
            for delta in self._take_deltas():
                yield frames.delta(delta)
                last = loop.time()
            for pos, event in self._shown(page):
                yield frames.event(pos, event)
                self._sent, last = pos, loop.time()
                self._note_end(event)
            self._sent = max(self._sent, self._reader.position)
            if self._reader.caught_up and not told:
                yield frames.caught_up(self._sent)
                told = True
            if self._reader.ended and self._root is not None:
                status = self._ended or (await self._engine.get(self._root)).status
                yield frames.end(self._sent, self._root, status)
                return
            self._check()
            if self._reader.caught_up and not self._deltas:
                await self._wait()
                if loop.time() - last >= self._state.settings.heartbeat_ms / 1000:
                    yield frames.heartbeat(self._sent, rfc3339(self._state.wall()))
                    last = loop.time()
            page = await self._reader.read(PAGE)

    def _note_end(self, event: JsonObject) -> None:
        kind = event["type"]
        if event["run_id"] == self._root and isinstance(kind, str) and kind.startswith("run."):
            status = kind.removeprefix("run.")
            self._ended = status if status in TERMINAL else self._ended

    def _shown(self, page: list[LineEntry]) -> "list[tuple[Position, JsonObject]]":
        """The events of these entries that this stream shows."""
        found: list[tuple[Position, JsonObject]] = []
        for entry in page:
            if self._query.trace:
                found += [(entry.start, decided) for decided in trace_in(entry.run, entry.entry)]
            found += [(pos, event) for pos, event in entry.events() if self._shows(str(event["type"]))]
        return found

    def _shows(self, kind: str) -> bool:
        if self._query.conversation is not None:
            return True
        if not self._caller.holds("read"):
            return kind.startswith("gate.")
        return self._root is not None or kind.startswith(("run.", "gate."))

    def _check(self) -> None:
        """Raise Refused if the stream must stop."""
        if self._state.draining.is_set():
            raise Refused("draining", "the server is shutting down", "connect again in a moment")
        if not self._state.callers.still_usable(self._caller, self._state.wall()):
            raise Refused("key_refused", "the key was revoked, or has expired", "ask for another one")
        if self._overrun:
            raise Refused("slow_reader", "this reader does not keep up", "connect again, and read faster")

    async def _wait(self) -> None:
        """Wait until there may be more, for at most a moment."""
        waits = [asyncio.ensure_future(self._reader.wait()), asyncio.ensure_future(self._woken.wait())]
        try:
            await asyncio.wait(waits, timeout=self._patience(), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
            for each in waits:
                with suppress(asyncio.CancelledError):
                    await each
        self._woken.clear()

    def _patience(self) -> float:
        return min(LOOK_S, self._state.settings.heartbeat_ms / 1000)

    # pieces of answers

    def _on_delta(self, delta: Delta) -> None:
        self._deltas.append(delta)
        self._delta_bytes += len(delta.text)
        self._overrun = self._overrun or len(self._deltas) > MAX_DELTAS or self._delta_bytes > MAX_DELTA_BYTES
        self._woken.set()

    def _take_deltas(self) -> list[Delta]:
        found = list(self._deltas)
        self._deltas.clear()
        self._delta_bytes = 0
        return found
