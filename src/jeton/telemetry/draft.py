"""Spans that have not ended."""

import msgspec

from jeton.telemetry import names
from jeton.telemetry.span import AttributeValue, Link, Span, SpanEvent, SpanStatus


class Draft:
    """A span in the making: a run, a token, an attempt, a model call or a turn."""

    def __init__(self, span_id: str, parent_id: str | None, name: str, start_ms: int) -> None:
        self.span_id = span_id
        self.parent_id = parent_id
        self.name = name
        self.start_ms = start_ms
        self.client = False
        self.attributes: dict[str, AttributeValue] = {}
        self.status: SpanStatus = "unset"
        self.message = ""
        self.links: list[Link] = []
        self.events: list[SpanEvent] = []

    def fail(self, type: str, message: str = "") -> None:
        """Mark the span as failed."""
        self.status, self.message = "error", message
        self.attributes[names.ERROR] = type

    def ended(self, trace_id: str, at_ms: int) -> Span:
        """The span, which ends now."""
        return Span(
            trace_id,
            self.span_id,
            self.parent_id,
            self.name,
            "client" if self.client else "internal",
            self.start_ms,
            max(at_ms, self.start_ms),  # the system clock may have been set back
            dict(self.attributes),
            self.status,
            self.message,
            tuple(self.links),
            tuple(self.events),
        )


class Attempt(msgspec.Struct):
    """An attempt of a token's task."""

    number: int
    start_ms: int
    deliveries: int = 1
    model_calls: int = 0  # that its steps reported
    since_ms: int = 0  # when its last model call ended, or it began


class TokenDraft(Draft):
    """The span of a token, with the attempt that is under way."""

    def __init__(self, span_id: str, parent_id: str | None, node: str, path: str, start_ms: int) -> None:
        super().__init__(span_id, parent_id, node, start_ms)
        self.node = node
        self.path = path
        self.works = False  # it did or waited for something, and did not just pass through
        self.retried = False
        self.attempt: Attempt | None = None
