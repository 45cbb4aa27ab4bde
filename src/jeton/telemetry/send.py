"""Sending spans with the OpenTelemetry SDK, which is an extra: `pip install 'jeton[otel]'`.

The SDK reads its own variables, such as OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS and OTEL_SERVICE_NAME.
"""

from collections.abc import Iterable
from importlib.metadata import version
from typing import TYPE_CHECKING

from jeton.model.failure import Refused
from jeton.telemetry.otlp import SERVICE
from jeton.telemetry.span import Span

if TYPE_CHECKING:  # slow to import, and not everybody has it
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext


class SpanSender:
    """Sends spans to a collector. The same span may be sent again: its ids are the same."""

    def __init__(self, endpoint: str | None = None) -> None:
        """`endpoint` is the whole address, as in `http://127.0.0.1:4318/v1/traces`; else the environment says it."""
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
        except ImportError:
            problem = "spans are sent with the OpenTelemetry SDK, which is not installed"
            raise Refused("needs_package", problem, "pip install 'jeton[otel]'") from None
        self._exporter = OTLPSpanExporter(endpoint=endpoint)
        named = Resource.create()  # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
        unnamed = str(named.attributes.get("service.name", "")).startswith("unknown_service")
        self._resource = named.merge(Resource({"service.name": SERVICE})) if unnamed else named

    def send(self, spans: Iterable[Span]) -> bool:
        """Send spans. Blocks, with the SDK's retries and timeouts; returns False if the collector did not take them."""
        from opentelemetry.sdk.trace.export import SpanExportResult

        found = [self._readable(span) for span in spans]
        return not found or self._exporter.export(found) is SpanExportResult.SUCCESS

    def close(self) -> None:
        """Give up the connection."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # the SDK has no hints there

    def _readable(self, span: Span) -> "ReadableSpan":
        from opentelemetry.sdk.trace import Event, ReadableSpan
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope
        from opentelemetry.trace import Link, SpanKind, Status, StatusCode

        failed = span.status == "error"
        return ReadableSpan(
            name=span.name,
            context=_context(span.trace_id, span.span_id),
            parent=None if span.parent_id is None else _context(span.trace_id, span.parent_id),
            resource=self._resource,
            attributes=span.attributes,
            events=[Event(each.name, each.attributes, each.at_ms * 1_000_000) for each in span.events],
            links=[Link(_context(link.trace_id, link.span_id)) for link in span.links],
            kind=SpanKind.CLIENT if span.kind == "client" else SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, span.message) if failed else Status(),
            start_time=span.start_ms * 1_000_000,
            end_time=span.end_ms * 1_000_000,
            instrumentation_scope=InstrumentationScope(SERVICE, version("jeton")),
        )


def _context(trace_id: str, span_id: str) -> "SpanContext":
    from opentelemetry.trace import SpanContext, TraceFlags

    sampled = TraceFlags(TraceFlags.SAMPLED)
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=sampled)
