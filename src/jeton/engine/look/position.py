"""Places in the line of positions, and the text that stands for one: opaque to clients, valid for ever."""

import re
from collections.abc import Iterator
from zlib import crc32

import msgspec

from jeton.actor.rows import PlacedEntry
from jeton.apply.record import events_of
from jeton.engine.views.events import event_json
from jeton.model.failure import Refused
from jeton.model.json import JsonObject

_TEXT = re.compile(r"p(0|[1-9a-f][0-9a-f]{0,14})-(0|[1-9a-f][0-9a-f]{0,14})-([0-9a-f]{8})")


class Position(msgspec.Struct, frozen=True, order=True):
    """A place in the line: behind all entries before `entry`, and behind the first `seen` events of that entry."""

    entry: int
    seen: int = 0

    def __str__(self) -> str:
        said = f"p{self.entry:x}-{self.seen:x}"
        return f"{said}-{crc32(said.encode()):08x}"


START = Position(1)
"""Before everything."""


def position_in(text: object) -> Position:
    """The position that a text stands for. Raises Refused with `bad_cursor` for any other text."""
    found = _TEXT.fullmatch(text) if isinstance(text, str) else None
    position = None if found is None else Position(int(found[1], 16), int(found[2], 16))
    if position is None or str(position) != text or position < START:
        raise bad_cursor(f"{str(text)[:60]!r} is not a position")
    return position


def behind(position: int) -> Position:
    """The place behind the whole entry at a position of the host's line."""
    return Position(position + 1)


def bad_cursor(problem: str) -> Refused:
    """The refusal of a cursor that this store never gave."""
    return Refused("bad_cursor", problem, "use one as it was given, or start anew without it")


class LineEntry(PlacedEntry, frozen=True):
    """A journal entry in the line. `seen`: how many of its events lie before the position that was read from."""

    seen: int = 0

    @property
    def start(self) -> Position:
        """The place before its first event that was not seen."""
        return Position(self.position, self.seen)

    def events(self) -> Iterator[tuple[Position, JsonObject]]:
        """Its events that were not seen, each with the place behind it."""
        for count, event in enumerate(events_of(self.run, self.entry), 1):
            if count > self.seen:
                yield Position(self.position, count), event_json(event)
