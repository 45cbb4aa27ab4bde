"""Readers of the line that send events to sinks: each in order, and each event at least once.

A sink that fails holds up no run and no other sink: its reader waits, and tries again. What it has sent is remembered
about once a second, so that after a kill the last events may be sent again, with the same ids."""

import asyncio
import logging
import random
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Literal, TypeAlias

import msgspec

from jeton.engine.engine import Engine
from jeton.engine.look.line import LineReader
from jeton.engine.look.position import LineEntry, Position, behind
from jeton.engine.views.events import bounded
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from jeton.telemetry.sinks.declared import Declarations, Declared, DeclaredSinks
from jeton.telemetry.sinks.post import Posted, Poster

log = logging.getLogger("jeton.telemetry")

Outcome: TypeAlias = Literal["delivered", "failed", "skipped"]
Counted: TypeAlias = Callable[[str, Outcome], None]

PAGE: Final = 100
LOOK_S: Final = 1.0  # how often the sinks are looked up
REMEMBER_S: Final = 1.0  # how often a place is written
AGAIN_S = (0.5, 1.0, 2.0, 5.0, 15.0, 60.0)
LONGEST_S = 300.0  # that is waited because a sink asks for it
MOST_TRIES = 5  # of an event that the sink says it does not take
MAX_AGE_MS = 3 * 24 * 60 * 60 * 1000  # after which an event is given up
MOST_RUNS = 10_000

_encode = msgspec.json.Encoder().encode


async def follow_sinks(engine: Engine, counted: Counted, poster: Poster | None = None) -> None:
    """Send events to all sinks there are, and follow what is deployed, for ever."""
    posts = poster or Poster()
    declared = DeclaredSinks(engine)
    readers: dict[str, tuple[Declarations, asyncio.Task[None]]] = {}
    try:
        while True:
            wanted = await declared.now()
            for name in [name for name, (known, _) in readers.items() if wanted.get(name) != known]:
                await _stopped(readers.pop(name)[1])
            for name in wanted.keys() - readers.keys():
                reader = SinkReader(engine, name, wanted[name], posts, counted)
                readers[name] = wanted[name], asyncio.create_task(reader.run(), name=name)
            await asyncio.sleep(LOOK_S)
    finally:
        await asyncio.gather(*(_stopped(task) for _, task in readers.values()))
        await posts.close()


async def _stopped(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


class SinkReader:
    """Reads the line for one sink."""

    def __init__(self, engine: Engine, name: str, declared: Declarations, poster: Poster, counted: Counted) -> None:
        self._engine = engine
        self._name = name
        self._declared = declared
        self._poster = poster
        self._counted = counted
        self._sink = next(iter(declared.values())).sink.name
        self._runs: OrderedDict[RunId, str] = OrderedDict()
        self._position: Position | None = None
        self._remembered: Position | None = None
        self._remembered_at = 0.0
        self._skip_pruned = False
        self._failing = False

    async def run(self) -> None:
        """Send what there is and what comes, until it is cancelled."""
        try:
            while True:
                try:
                    await self._follow()
                except Refused as refused:
                    await self._go_on(refused)
                except Exception:
                    log.exception("the reader of the sink '%s' failed, and begins again", self._sink)
                    await asyncio.sleep(AGAIN_S[-1])
        finally:
            await self._remember()

    async def _go_on(self, refused: Refused) -> None:
        """Go on with what is left of the line, or at its head if it never had this place."""
        log.warning("the sink '%s' misses events: %s", self._sink, refused)
        if refused.code == "history_pruned":
            self._skip_pruned = True
            return
        self._position = await self._engine.head()
        await self._remember()
        await asyncio.sleep(AGAIN_S[0])

    async def _follow(self) -> None:
        after = self._position or await self._engine.access.place(self._name) or await self._engine.head()
        reader: LineReader = await self._engine.line_reader(after=after)
        self._position = self._remembered = reader.position
        if self._skip_pruned:
            reader.skip_pruned()
        while True:
            for entry in await reader.read(PAGE):
                await self._take(entry)
            self._position = max(self._position, reader.position)
            left_s = self._remembered_at + REMEMBER_S - time.monotonic()
            if self._position == self._remembered:
                await reader.wait()
                continue
            if reader.caught_up and left_s > 0:
                with suppress(TimeoutError):
                    async with asyncio.timeout(left_s):
                        await reader.wait()
                left_s = self._remembered_at + REMEMBER_S - time.monotonic()
            if left_s <= 0:
                await self._remember()

    async def _remember(self) -> None:
        if self._position is not None and self._position != self._remembered:
            await self._engine.access.keep_place(self._name, str(self._position))
            self._remembered, self._remembered_at = self._position, time.monotonic()

    async def _take(self, entry: LineEntry) -> None:
        workflow = await self._workflow_of(entry.run)
        declared = self._declared.get(workflow)
        for position, event in () if declared is None else entry.events():
            assert declared is not None
            if declared.sink.wants(str(event["type"])):
                data: JsonObject = {"workflow": workflow, "pos": str(position), "event": bounded(event)}
                body = _encode({"type": event["type"], "timestamp": event["at"], "data": data})
                await self._deliver(declared, position, body, entry.entry.at)
                self._position = position
                if time.monotonic() - self._remembered_at > REMEMBER_S:
                    await self._remember()
        self._position = behind(entry.position)

    async def _workflow_of(self, run: RunId) -> str:
        if run not in self._runs:
            row = await self._engine.browse.row(run)
            self._runs[run] = "" if row is None else row.workflow  # one that was pruned is nobody's
            if len(self._runs) > MOST_RUNS:
                self._runs.popitem(last=False)
        return self._runs[run]

    async def _deliver(self, declared: Declared, position: Position, body: bytes, at: int) -> None:
        """Send one event, again and again until it is taken, is not wanted, or is too old."""
        tries = 0
        while True:
            if self._engine.wall() - at > MAX_AGE_MS:
                self._skip(position, "it is more than three days old")
                return
            posted = await self._poster.post(declared, str(position), body)
            if posted.problem is None:
                self._counted(self._sink, "delivered")
                self._tell(None)
                return
            tries += 1
            self._counted(self._sink, "failed")
            self._tell(posted.problem)
            if posted.unwanted and tries >= MOST_TRIES:
                self._skip(position, posted.problem)
                return
            await asyncio.sleep(_wait_s(posted, tries))

    def _skip(self, position: Position, problem: str) -> None:
        self._counted(self._sink, "skipped")
        log.warning("the sink '%s' is not told of the event at %s: %s", self._sink, position, problem)

    def _tell(self, problem: str | None) -> None:
        """Log when a sink begins to fail, and when it works again: not each try."""
        if problem is not None and not self._failing:
            log.warning("the sink '%s' does not take events, and is tried again: %s", self._sink, problem)
        elif problem is None and self._failing:
            log.info("the sink '%s' takes events again", self._sink)
        self._failing = problem is not None


def _wait_s(posted: Posted, tries: int) -> float:
    """How long to wait after so many tries; a little random, so that many sinks do not come back at once."""
    wait_s = AGAIN_S[min(tries, len(AGAIN_S)) - 1] * random.uniform(0.8, 1.2)
    return max(wait_s, min(posted.retry_after_s or 0.0, LONGEST_S))
