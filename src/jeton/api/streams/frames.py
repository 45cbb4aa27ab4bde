"""Frames: what a stream says, and how each looks as JSON."""

from typing import Final

import msgspec

from jeton.engine.look.position import Position
from jeton.engine.views.events import bounded
from jeton.model.chat import Delta
from jeton.model.codes import RefusalCode
from jeton.model.failure import Refused
from jeton.model.json import JsonObject

CLOSING: Final[dict[RefusalCode, int]] = {
    "draining": 1001,
    "bad_argument": 1008,
    "key_refused": 4401,
    "slow_reader": 4408,
    "history_pruned": 4410,
}
ENDED = 1000
FAILED = 1011

_encode = msgspec.json.Encoder().encode


class Frame(msgspec.Struct, frozen=True):
    """One frame: its kind, the position behind it, and its JSON. `code` closes the stream."""

    kind: str
    pos: str | None
    body: bytes
    code: int | None = None


def _frame(kind: str, pos: str | None, fields: JsonObject, code: int | None = None) -> Frame:
    return Frame(kind, pos, _encode({"kind": kind, **fields}), code)


def hello(after: Position, head: Position, server: str, heartbeat_ms: int) -> Frame:
    """The first frame: where the stream begins, and where the line is now."""
    fields: JsonObject = {"after": str(after), "head": str(head), "server": server, "heartbeat_ms": heartbeat_ms}
    return _frame("hello", str(after), fields)


def event(pos: Position, body: JsonObject) -> Frame:
    """An event, and the position behind it."""
    return _frame("event", str(pos), {"pos": str(pos), "event": bounded(body)})


def caught_up(pos: Position) -> Frame:
    """All that was stored has been sent."""
    return _frame("caught_up", str(pos), {"pos": str(pos)})


def delta(found: Delta) -> Frame:
    """A piece of an answer that is being made: it replaces the text from `index` on."""
    return _frame(
        "delta",
        None,
        {
            "conversation_id": found.conversation,
            "turn": found.turn,
            "move": found.move,
            "index": found.at,
            "text": found.text,
        },
    )


def heartbeat(pos: Position, at: str) -> Frame:
    """Nothing happened; a stream may be resumed from here."""
    return _frame("heartbeat", str(pos), {"pos": str(pos), "at": at})


def end(pos: Position, run: str, status: str) -> Frame:
    """The run has ended, and nothing follows."""
    return _frame("end", str(pos), {"pos": str(pos), "run_id": run, "status": status}, ENDED)


def bye(refused: Refused, after: Position) -> Frame:
    """The stream is closed by the server; it can be resumed behind `after`, unless the code says otherwise."""
    fields: JsonObject = {
        "code": refused.code,
        "problem": refused.problem,
        "remedy": refused.remedy,
        "after": str(after),
    }
    return _frame("bye", None, fields, CLOSING.get(refused.code, FAILED))
