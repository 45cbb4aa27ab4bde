"""Cursors: places in lists, as texts that clients give back and do not read. They name rows, not counts."""

import base64
import binascii
from functools import cache
from typing import Any

import msgspec

from jeton.model.failure import Refused

LONGEST = 500

_encode = msgspec.json.Encoder().encode


@cache
def _decoder(of: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(tuple[str, of])


def cursor_of(kind: str, place: object) -> str:
    """A cursor for a place in a kind of list."""
    return base64.urlsafe_b64encode(_encode((kind, place))).rstrip(b"=").decode()


def place_in(cursor: str, kind: str, of: Any) -> Any:
    """The place that a cursor names, as a value of this type. Raises Refused (`bad_cursor`) for one of another list."""
    found: Any = None
    if len(cursor) <= LONGEST:
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
            found = _decoder(of).decode(raw)
        except (ValueError, binascii.Error, msgspec.MsgspecError, RecursionError):
            found = None
    if found is None or found[0] != kind:
        problem = "the cursor is none of this list"
        raise Refused("bad_cursor", problem, "give `next` of the page before as it came, or begin without one")
    return found[1]
