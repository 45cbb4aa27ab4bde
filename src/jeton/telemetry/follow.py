"""Spans of everything that happens, as it happens: read off the line of positions by a reader that remembers its place.

A collector that is gone holds nobody up: the reader waits, and goes on where it was. What it sends twice has the same
ids."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from jeton.engine.engine import Engine
from jeton.engine.look.line import LineReader
from jeton.engine.look.position import LineEntry
from jeton.model.decision import EndRun
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.telemetry.collect import facts_of
from jeton.telemetry.span import Span
from jeton.telemetry.spans import RunSpans

log = logging.getLogger("jeton.telemetry")
READER = "otel"
PAGE = 200
MOST_RUNS = 1000
AGAIN_S = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Sender(Protocol):
    """Sends spans; False if they were not taken."""

    def send(self, spans: Sequence[Span], /) -> bool: ...


class LineSpans:
    """The spans that end with each entry of the line. Runs under way are kept; a forgotten one is read again."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._runs: OrderedDict[RunId, RunSpans] = OrderedDict()

    async def take(self, entry: LineEntry) -> list[Span]:
        """The spans that end with an entry."""
        reader = self._runs.pop(entry.run, None)
        if reader is None:
            reader = RunSpans(await facts_of(self._engine, entry.run))
            if entry.entry.number:
                async for earlier in self._engine.journal(entry.run):
                    if earlier.number >= entry.entry.number:
                        break
                    reader.take(earlier)
        found = reader.take(entry.entry)
        if not any(isinstance(decision, EndRun) for decision in entry.entry.decisions):
            self._runs[entry.run] = reader
            if len(self._runs) > MOST_RUNS:
                self._runs.popitem(last=False)
        return found


async def follow_spans(engine: Engine, sender: Sender) -> None:
    """Send the spans of all that happens from where the last reader stopped, or from now on, for ever."""
    while True:
        try:
            await _follow(engine, sender)
        except Refused as refused:
            log.warning("the reader of spans starts at the head of the line: %s", refused)
            await engine.access.keep_place(READER, str(await engine.head()))


async def _follow(engine: Engine, sender: Sender) -> None:
    place = await engine.access.place(READER)
    reader: LineReader = await engine.line_reader(after=await engine.head() if place is None else place)
    spans = LineSpans(engine)
    while True:
        found: list[Span] = []
        for entry in await reader.read(PAGE):
            found += await _spans_in(spans, entry)
        if found:
            await _sent(sender, found)
            await engine.access.keep_place(READER, str(reader.position))
        await reader.wait()


async def _spans_in(spans: LineSpans, entry: LineEntry) -> list[Span]:
    try:
        return await spans.take(entry)
    except Refused as refused:  # the run was pruned meanwhile
        log.warning("run %s has no spans: %s", entry.run, refused)
        return []


async def _sent(sender: Sender, spans: list[Span]) -> None:
    """Send spans, again and again until they are taken."""
    tries = 0
    while not await _taken(sender, spans):
        if tries == 0:
            log.warning("the collector does not take spans; they are sent again until it does")
        await asyncio.sleep(AGAIN_S[min(tries, len(AGAIN_S) - 1)])
        tries += 1


async def _taken(sender: Sender, spans: list[Span]) -> bool:
    try:
        return await asyncio.to_thread(sender.send, spans)
    except Exception:
        log.exception("spans could not be sent")
        return False
