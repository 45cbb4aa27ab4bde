"""Spans in the JSON form of the OpenTelemetry protocol, which collectors take as it is."""

from collections.abc import Iterable, Mapping
from importlib.metadata import version

from jeton.model.json import Json, JsonObject
from jeton.telemetry.span import AttributeValue, Span

SERVICE = "jeton"
KINDS = {"internal": 1, "client": 3}
STATUSES = {"unset": 0, "error": 2}


def otlp_json(spans: Iterable[Span], service: str = SERVICE) -> JsonObject:
    """One export request with these spans."""
    scope: JsonObject = {"name": SERVICE, "version": version("jeton")}
    found: list[Json] = [_span(span) for span in spans]
    resource: JsonObject = {"attributes": _attributes({"service.name": service})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": found}]}]}


def _span(span: Span) -> JsonObject:
    found: JsonObject = {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "name": span.name,
        "kind": KINDS[span.kind],
        "startTimeUnixNano": _nanoseconds(span.start_ms),
        "endTimeUnixNano": _nanoseconds(span.end_ms),
        "attributes": _attributes(span.attributes),
    }
    if span.parent_id is not None:
        found["parentSpanId"] = span.parent_id
    if span.status != "unset":
        found["status"] = {"code": STATUSES[span.status], "message": span.message}
    if span.links:
        found["links"] = [{"traceId": link.trace_id, "spanId": link.span_id} for link in span.links]
    if span.events:
        found["events"] = [
            {"name": each.name, "timeUnixNano": _nanoseconds(each.at_ms), "attributes": _attributes(each.attributes)}
            for each in span.events
        ]
    return found


def _nanoseconds(ms: int) -> str:
    return str(ms * 1_000_000)


def _attributes(values: Mapping[str, AttributeValue]) -> list[Json]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: AttributeValue) -> JsonObject:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}  # 64 bits are text in the JSON form of protocol buffers
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
