"""Spans as plain values, and ids that are the same whenever they are computed."""

import hashlib
from typing import Literal, TypeAlias

import msgspec

from jeton.model.ids import RunId

AttributeValue: TypeAlias = str | int | float | bool

SpanStatus: TypeAlias = Literal["unset", "error"]


class Link(msgspec.Struct, frozen=True):
    """A span of another trace that led to this one."""

    trace_id: str
    span_id: str


class SpanEvent(msgspec.Struct, frozen=True):
    """Something that happened during a span."""

    name: str
    at_ms: int
    attributes: dict[str, AttributeValue] = {}


class Span(msgspec.Struct, frozen=True):
    """A span that has ended. Ids are lower-case hex, of 16 and 8 bytes."""

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    kind: Literal["internal", "client"]
    start_ms: int
    end_ms: int
    attributes: dict[str, AttributeValue]
    status: SpanStatus = "unset"
    message: str = ""
    links: tuple[Link, ...] = ()
    events: tuple[SpanEvent, ...] = ()


def root_of(run: RunId) -> RunId:
    """The run that no other called. Ids of called runs and conversations extend that of the caller by a dot."""
    return RunId(run.partition(".")[0])


def trace_id_of(run: RunId) -> str:
    """The trace of a run: one for a root run and all below it."""
    return _hash("trace", root_of(run), size=16)


def span_id_of(run: RunId, *place: str | int) -> str:
    """The span of a place in a run: nothing for the run itself, or a token, attempt and step, or a turn."""
    return _hash("span", root_of(run), run, *place, size=8)


def _hash(*parts: str | int, size: int) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[: 2 * size]
