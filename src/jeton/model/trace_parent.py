"""The span of another system that a run was started under (W3C Trace Context)."""

import re

import msgspec


class TraceParent(msgspec.Struct, frozen=True):
    """The span of another system that a root run was started under."""

    trace_id: str
    span_id: str


_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")


def parse_traceparent(header: str) -> TraceParent | None:
    """Parse the header `traceparent` of a request (W3C Trace Context). None if it is none, which is no error."""
    found = _TRACEPARENT.fullmatch(header.strip())
    if found is None or (found[0].startswith("00-") and found[3] is not None):
        return None  # only later versions may have more fields
    return TraceParent(found[1], found[2])
