"""Times in requests."""

from datetime import UTC

from jeton.model.failure import Refused
from jeton.model.times import time_in


def milliseconds_in(text: str) -> int:
    """A time in milliseconds since 1970. Raises Refused if the text is none."""
    found = time_in(text)
    if found is None:
        raise Refused("bad_argument", f"'{text[:60]}' is no time", "write it like 2026-11-15T09:30:00Z")
    aware = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return int(aware.timestamp() * 1000)
