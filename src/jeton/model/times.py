"""Times as they leave the engine: with a zone in Python, RFC 3339 in UTC to the millisecond everywhere else.

And as they come to it, which is less strict.
"""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS = 253_402_300_799_999  # the end of the year 9999; a wait may be set for later, a date cannot say so


def moment(ms: int) -> datetime:
    """Milliseconds since 1970 as a time with a zone."""
    return _EPOCH + timedelta(milliseconds=min(ms, _LAST_MS))


def maybe_moment(ms: int | None) -> datetime | None:
    """The same for a time that may not have come."""
    return None if ms is None else moment(ms)


def text_of(time: datetime) -> str:
    """`2026-11-15T09:30:00.250Z`."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def rfc3339(ms: int) -> str:
    """Milliseconds since 1970 as text."""
    return text_of(moment(ms))


def time_in(text: str) -> datetime | None:
    """The time that a text says, with a zone or without; RFC 3339 has its letters small too."""
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        return None
