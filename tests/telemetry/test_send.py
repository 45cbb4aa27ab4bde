"""Spans sent to a collector: a real one by protocol, which keeps what it gets."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

import jeton
from jeton.telemetry.collect import spans_below
from jeton.telemetry.otlp import otlp_json
from jeton.telemetry.send import SpanSender
from jeton.telemetry.span import Link, Span, SpanEvent

LIBRARY = {
    "model_profiles": {"fake": {"provider": "scripted", "script": [{"text": "Hello!"}]}},
    "personas": {"helper": {"model_profile": "fake"}},
    "agents": {"bob": {"persona": "helper"}},
}
WHOLE = Span(
    "0af7651916cd43dd8448eb211c80319c",
    "b7ad6b7169203331",
    "00f067aa0ba902b7",
    "whole",
    "client",
    1000,
    2500,
    {"text": "a", "number": 1 << 40, "part": 0.5, "yes": True},
    "error",
    "it broke",
    (Link("0af7651916cd43dd8448eb211c80319d", "b7ad6b7169203332"),),
    (SpanEvent("gate.opened", 1200, {"by": "ada"}),),
)


class Collector(ThreadingHTTPServer):
    """Takes export requests, and answers with `status`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[ExportTraceServiceRequest] = []
        self.status = 200

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1/traces"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = cast("Collector", self.server)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.requests.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


async def test_a_conversation_sent_twice_is_the_same_spans(tmp_path: Path, collector: Collector) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(LIBRARY)
        talk = await engine.converse("bob")
        await (await talk.send("Hi")).result()
        spans = [span async for span in spans_below(engine, talk.id)]
        again = [span async for span in spans_below(engine, talk.id)]
    sender = SpanSender(collector.address)
    assert sender.send(spans)
    assert sender.send(again)
    sender.close()
    first, second = collector.requests
    assert first == second
    (resource,) = first.resource_spans
    got = resource.scope_spans[0].spans
    assert [(each.span_id.hex(), each.trace_id.hex()) for each in got] == [(s.span_id, s.trace_id) for s in spans]
    assert [each.name for each in got] == ["chat scripted", "invoke_agent bob"]
    assert got[0].parent_span_id == got[1].span_id
    assert {each.key: each.value.string_value for each in resource.resource.attributes}["service.name"] == "jeton"


def test_everything_of_a_span_arrives(collector: Collector) -> None:
    sender = SpanSender(collector.address)
    assert sender.send([WHOLE])
    sender.close()
    (got,) = collector.requests[0].resource_spans[0].scope_spans[0].spans
    assert (got.start_time_unix_nano, got.end_time_unix_nano, got.kind) == (1_000_000_000, 2_500_000_000, 3)
    assert (got.status.code, got.status.message, got.parent_span_id.hex()) == (2, "it broke", "00f067aa0ba902b7")
    assert {each.key: each.value.WhichOneof("value") for each in got.attributes} == {
        "text": "string_value",
        "number": "int_value",
        "part": "double_value",
        "yes": "bool_value",
    }
    assert got.links[0].span_id.hex() == "b7ad6b7169203332"
    assert (got.events[0].name, got.events[0].time_unix_nano) == ("gate.opened", 1_200_000_000)


def test_the_json_form_says_the_same() -> None:
    request = json.loads(json.dumps(otlp_json([WHOLE])))
    (span,) = request["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert span == {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": "b7ad6b7169203331",
        "parentSpanId": "00f067aa0ba902b7",
        "name": "whole",
        "kind": 3,
        "startTimeUnixNano": "1000000000",
        "endTimeUnixNano": "2500000000",
        "attributes": [
            {"key": "text", "value": {"stringValue": "a"}},
            {"key": "number", "value": {"intValue": "1099511627776"}},
            {"key": "part", "value": {"doubleValue": 0.5}},
            {"key": "yes", "value": {"boolValue": True}},
        ],
        "status": {"code": 2, "message": "it broke"},
        "links": [{"traceId": "0af7651916cd43dd8448eb211c80319d", "spanId": "b7ad6b7169203332"}],
        "events": [
            {
                "name": "gate.opened",
                "timeUnixNano": "1200000000",
                "attributes": [{"key": "by", "value": {"stringValue": "ada"}}],
            }
        ],
    }


def test_a_collector_that_refuses_is_told(collector: Collector) -> None:
    collector.status = 400
    sender = SpanSender(collector.address)
    assert not sender.send([WHOLE])
    sender.close()


def test_the_service_is_named_by_the_environment(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "shop")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.removesuffix("/v1/traces"))
    sender = SpanSender()
    assert sender.send([WHOLE])
    sender.close()
    resource = collector.requests[0].resource_spans[0].resource
    assert {each.key: each.value.string_value for each in resource.attributes}["service.name"] == "shop"
