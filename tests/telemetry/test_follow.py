"""Spans that are sent while runs go on: none is lost, whether the collector or the reader is gone for a while."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

import jeton
from jeton.model.json import JsonObject
from jeton.telemetry import follow
from jeton.telemetry.collect import spans_below
from jeton.telemetry.follow import follow_spans
from jeton.telemetry.span import Span

LIBRARY: JsonObject = {
    "workflows": {
        "parent": {"initial_node": "a", "nodes": {"a": {"workflow": "child"}}},
        "child": {"initial_node": "b", "nodes": {"b": {"action": {"kind": "mock", "implementation": {"output": {}}}}}},
        "waits": {"initial_node": "w", "nodes": {"w": {"wait": {"signal": "go"}}}},
    }
}


class Collector:
    """Takes spans, unless it is down."""

    def __init__(self) -> None:
        self.spans: dict[str, Span] = {}
        self.down = False
        self.asked = 0

    def send(self, spans: Sequence[Span], /) -> bool:
        self.asked += 1
        if self.down:
            return False
        for span in spans:
            assert self.spans.get(span.span_id, span) == span, "sent twice, the same span"
            self.spans[span.span_id] = span
        return True


async def stopped(reader: "asyncio.Task[None]") -> None:
    reader.cancel()
    with suppress(asyncio.CancelledError):
        await reader


async def until_sent(engine: jeton.Engine, collector: Collector, *runs: str) -> None:
    wanted = {span.span_id: span for run in runs for span in [each async for each in spans_below(engine, run)]}
    async with asyncio.timeout(20):
        while wanted.keys() - collector.spans.keys():
            await asyncio.sleep(0.02)
    assert {name: collector.spans[name] for name in wanted} == wanted


async def test_spans_are_sent_as_runs_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "AGAIN_S", (0.01,))
    collector = Collector()
    async with jeton.open(tmp_path / "s.db") as engine:
        await engine.deploy(LIBRARY)
        before = await engine.start("parent")
        await before.result(20)
        reader = asyncio.create_task(follow_spans(engine, collector))
        await asyncio.sleep(0.1)
        first = await engine.start("parent")
        waits = await engine.start("waits")
        await first.result(20)
        await until_sent(engine, collector, first.id)
        assert not any(span.attributes.get("jeton.run.id") == before.id for span in collector.spans.values())

        collector.down = True
        second = await engine.start("parent")
        assert (await second.result(20)).status == "completed", "a collector that is gone holds up nobody"
        while collector.asked < 5:
            await asyncio.sleep(0.01)
        await stopped(reader)  # it has not forgotten what was not taken
        collector.down = False
        third = await engine.start("parent")
        await third.result(20)
        await waits.signal("go")
        await waits.result(20)
        reader = asyncio.create_task(follow_spans(engine, collector))
        await until_sent(engine, collector, first.id, second.id, third.id, waits.id)
        await stopped(reader)
