"""Streams of a server, over any number of connections: what was missed comes before what is new, each event once."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

import httpx2
import msgspec

from jeton.api.client.connection import Connection, part, unreachable
from jeton.api.views import Events
from jeton.model.codes import RefusalCode
from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject

AGAIN_S = 0.5
DATA = "data: "
FOR_NOW = ("draining", "slow_reader", "rate_limited", "too_many_streams")


class Wanted(msgspec.Struct, frozen=True):
    """What is streamed: a run with the runs it called, a conversation, or what happens to all runs."""

    run: str | None = None
    conversation: str | None = None
    trace: bool = False
    follow: bool = True  # also what is to come


class SeenFrame(msgspec.Struct, frozen=True):
    """A frame as it came. Which fields it has depends on its kind."""

    kind: str
    pos: str | None = None
    after: str | None = None
    event: JsonObject = {}
    code: str = ""
    problem: str = ""
    remedy: str = ""
    conversation_id: str = ""
    turn: int = 0
    move: int = 0
    index: int = 0
    text: str = ""


_read = msgspec.json.Decoder(SeenFrame).decode


async def frames(connection: Connection, wanted: Wanted, after: int | str = -1) -> AsyncGenerator[SeenFrame, None]:
    """The frames behind a position or a sequence number, until the end. A connection that breaks is made again.

    Raises Refused if the server cannot be reached to begin with, or for what waiting does not help."""
    place: str | None = None if after == -1 else str(after)
    trace, known = True if wanted.trace else None, False
    while True:
        query = {"run": wanted.run, "conversation": wanted.conversation, "after": place, "trace": trace}
        try:
            async with connection.lines("/stream", query) as lines:
                if lines is None:
                    return
                async for line in lines:
                    if not line.startswith(DATA):
                        continue
                    frame = _read(line.removeprefix(DATA))
                    # that of `hello` is where the stream begins, also if that was the head
                    known, place = True, (frame.after if frame.kind == "hello" else frame.pos) or place
                    yield frame
                    if frame.kind == "end" or (frame.kind == "caught_up" and not wanted.follow):
                        return
                    if frame.kind == "bye" and frame.code not in FOR_NOW:
                        raise Refused(cast("RefusalCode", frame.code), frame.problem, frame.remedy)
        except httpx2.HTTPError as error:
            if not known or not wanted.follow:
                raise unreachable(connection.url, error) from None
        except Refused as refused:
            if not known or refused.code not in FOR_NOW:
                raise
        await asyncio.sleep(AGAIN_S)


async def stream(connection: Connection, wanted: Wanted, after: int | str = -1) -> AsyncGenerator[JsonObject, None]:
    """Events behind a position or a sequence number, and pieces of answers (`message.delta`) while they are made."""
    pieces = Pieces()
    async with aclosing(frames(connection, wanted, after)) as found:
        async for frame in found:
            if frame.kind == "event":
                yield await _whole(connection, frame.event)
            elif frame.kind == "delta":
                yield pieces.event_of(frame)


async def _whole(connection: Connection, event: JsonObject) -> JsonObject:
    """The event with the fields that were too large for a frame."""
    seq = event.get("seq")
    if not isinstance(seq, int) or not any(_is_large(value) for value in event.values()):
        return event
    path = f"/runs/{part(str(event['run_id']))}/events"
    found = await connection.get(path, Events, after=seq - 1, limit=1)
    return found.events[0] if found.events else event


def _is_large(value: Json) -> bool:
    return isinstance(value, dict) and set(value) == {"$large"}


class Pieces:
    """Numbers the deliveries of answers that are made: one whose text is replaced from an earlier place is new."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[int, int]] = {}  # by turn and move: delivery, and length so far

    def event_of(self, frame: SeenFrame) -> JsonObject:
        """The event of a piece, as the engine has it."""
        delivery, length = self._known.get((frame.turn, frame.move), (1, 0))
        if frame.index < length:
            delivery += 1
        self._known[frame.turn, frame.move] = delivery, frame.index + len(frame.text)
        return {
            "type": "message.delta",
            "conversation": frame.conversation_id,
            "turn": frame.turn,
            "move": frame.move,
            "delivery": delivery,
            "at": frame.index,
            "text": frame.text,
        }
