"""Times: milliseconds inside, aware datetimes in Python, RFC 3339 in UTC everywhere else.

And as they come to it, which is less strict.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS = 253_402_300_799_999  # the end of the year 9999; a wait may be longer, a datetime cannot


def moment(ms: int) -> datetime:
    """Milliseconds since 1970 as an aware datetime."""
    return _EPOCH + timedelta(milliseconds=min(ms, _LAST_MS))


def maybe_moment(ms: int | None) -> datetime | None:
    """The same for a time that may be absent."""
    return None if ms is None else moment(ms)


def text_of(time: datetime) -> str:
    """`2026-11-15T09:30:00.250Z`."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def rfc3339(ms: int) -> str:
    """Milliseconds since 1970 as text."""
    second, rest = divmod(min(ms, _LAST_MS), 1000)
    return f"{_second_text(second)}.{rest:03d}Z"


@lru_cache(64)
def _second_text(second: int) -> str:
    """A whole second as text. Kept, because many runs begin in the same one."""
    return text_of(moment(second * 1000)).removesuffix(".000Z")


def time_in(text: str) -> datetime | None:
    """Parse an ISO 8601 time, with or without a zone, in upper or lower case. None if it is none."""
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        return None
