"""Webhooks out: every event, in order, at least once, whatever the other side does, and nobody waits for it."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.engine.views.events import bounded
from jeton.model.json import JsonObject
from jeton.telemetry.sinks import follow, post
from jeton.telemetry.sinks.follow import follow_sinks
from tests.telemetry.sinks.receiver import SECRET, Receiver, once, receiving


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "AGAIN_S", (0.01,))
    monkeypatch.setattr(follow, "LOOK_S", 0.05)
    monkeypatch.setattr(follow, "REMEMBER_S", 0.05)
    monkeypatch.setenv("JETON_TEST_SINK", SECRET)


def library(sinks: dict[str, Any], allow: tuple[str, ...] = ("127.0.0.1",)) -> JsonObject:
    return {
        "workflows": {
            "parent": {"initial_node": "a", "nodes": {"a": {"workflow": "child"}}},
            "child": {
                "initial_node": "b",
                "nodes": {"b": {"action": {"kind": "mock", "implementation": {"output": {}}}}},
            },
        },
        "project": {
            "settings": {
                "secrets": {"SINK": {"env": "JETON_TEST_SINK"}},
                "http": {"allow": list(allow)},
                "sinks": sinks,
            }
        },
    }


def to(receiver: Receiver, **more: Any) -> dict[str, Any]:
    return {"url": receiver.url, "secret": "SINK", **more}


@asynccontextmanager
async def sending(engine: jeton.Engine) -> AsyncGenerator[Counter[tuple[str, str]], None]:
    """Send to all sinks for a while, and count what comes of it."""
    counts = Counter[tuple[str, str]]()
    task = asyncio.create_task(follow_sinks(engine, lambda sink, outcome: counts.update([(sink, outcome)])))
    try:
        yield counts
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def counted(counts: "Counter[tuple[str, str]]", wanted: dict[tuple[str, str], int]) -> None:
    """Wait until as much has come of it, and see that nothing else has."""
    async with asyncio.timeout(30):
        while any(counts[key] < count for key, count in wanted.items()):
            await asyncio.sleep(0.01)
    assert counts == wanted


async def ran(engine: jeton.Engine, times: int = 1) -> None:
    for _ in range(times):
        record = await (await engine.start("parent")).result(20)
        assert record.status == "completed"


async def told(engine: jeton.Engine, *beginnings: str) -> list[Any]:
    """What a sink must have been told: by the line itself."""
    found = [pair async for entry in engine.line() for pair in entry.events()]
    return [(str(at), bounded(event)) for at, event in found if str(event["type"]).startswith(beginnings)]


async def test_events_are_sent_in_order_and_signed(tmp_path: Path) -> None:
    async with receiving() as receiver, receiving() as all_of_it, jeton.open(tmp_path / "s.db") as engine:
        await engine.deploy(library({"audit": to(receiver), "all": to(all_of_it, events=["*"])}))
        await ran(engine)  # nobody sends yet, and what it is about is not lost
        async with sending(engine) as counts:
            await ran(engine, 2)
            ends, everything = await told(engine, "run.", "gate."), await told(engine, "")
            await counted(counts, {("audit", "delivered"): len(ends), ("all", "delivered"): len(everything)})
        got = [(each.id, each.body["data"]["event"]) for each in receiver.taken]
        assert got == ends
        assert [(each.id, each.body["data"]["event"]) for each in all_of_it.taken] == everything
        for name, body in receiver.taken:
            event, data = body["data"]["event"], body["data"]
            assert (body["type"], body["timestamp"], data["pos"]) == (event["type"], event["at"], name)
            assert data["workflow"] == ("child" if "." in event["run_id"] else "parent")


async def test_a_sink_that_fails_hangs_and_is_gone_misses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post, "REQUEST_S", 0.2)
    async with receiving() as receiver, receiving() as other, jeton.open(tmp_path / "s.db") as engine:
        await engine.deploy(library({"bad": to(receiver), "good": to(other)}))
        receiver.behave = once(500, 429, None, 302, 401, 503)
        async with sending(engine) as counts:
            await ran(engine)  # it does not wait for the sink
            wanted = await told(engine, "run.", "gate.")
            await other.until(lambda: len(other.taken) >= len(wanted))
            await receiver.until(lambda: len(receiver.taken) >= 2)
            assert receiver.asked[:6] == [wanted[0][0]] * 6, "the first event, again and again"
            await receiver.stop()
            await ran(engine)
            wanted = await told(engine, "run.", "gate.")
            await other.until(lambda: len(other.taken) >= len(wanted))
            failed = counts["bad", "failed"]
            while counts["bad", "failed"] < failed + 3:
                await asyncio.sleep(0.01)
            await receiver.start()
            await receiver.until(lambda: len(receiver.types) >= len(wanted))
            assert ("bad", "skipped") not in counts
        assert list(dict.fromkeys(each.id for each in receiver.taken)) == [at for at, _ in wanted]
        assert [each.id for each in other.taken] == [at for at, _ in wanted]


async def test_an_event_that_is_not_wanted_does_not_hold_up_the_others(tmp_path: Path) -> None:
    async with receiving() as receiver, jeton.open(tmp_path / "s.db") as engine:
        await engine.deploy(library({"audit": to(receiver, events=["run.started", "run.completed"])}))
        receiver.behave = lambda body: 422 if body["type"] == "run.started" else 200
        async with sending(engine) as counts:
            await ran(engine)
            tries = 2 * follow.MOST_TRIES
            await counted(counts, {("audit", "failed"): tries, ("audit", "skipped"): 2, ("audit", "delivered"): 2})
        assert receiver.types == ["run.completed"] * 2


async def test_an_event_that_is_too_old_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "MAX_AGE_MS", -1)
    async with receiving() as receiver, jeton.open(tmp_path / "s.db") as engine:
        await engine.deploy(library({"audit": to(receiver)}))
        async with sending(engine) as counts:
            await ran(engine)
            await counted(counts, {("audit", "skipped"): len(await told(engine, "run."))})
        assert receiver.asked == []


async def test_an_address_that_is_not_public_is_not_called(tmp_path: Path) -> None:
    async with receiving() as receiver, jeton.open(tmp_path / "s.db") as engine:
        await engine.deploy(library({"audit": to(receiver)}, allow=()))
        async with sending(engine) as counts:
            await ran(engine)
            while counts["audit", "failed"] < 3:
                await asyncio.sleep(0.01)
            assert receiver.asked == []
            await engine.deploy(library({"audit": to(receiver)}))  # what was not sent is sent when it is allowed
            wanted = await told(engine, "run.")
            await receiver.until(lambda: len(receiver.taken) >= len(wanted))
        assert [each.id for each in receiver.taken] == [at for at, _ in wanted]


async def test_a_sink_that_moves_goes_on_where_it_was_and_one_that_is_removed_is_told_nothing(tmp_path: Path) -> None:
    async with receiving() as first, receiving() as second, jeton.open(tmp_path / "s.db") as engine:
        await engine.deploy(library({"audit": to(first)}))
        async with sending(engine):
            await ran(engine)
            before = len(await told(engine, "run."))
            await first.until(lambda: len(first.taken) >= before)
        await ran(engine)
        await engine.deploy(library({"audit": to(second)}))
        async with sending(engine):
            wanted = [at for at, _ in await told(engine, "run.")]
            await second.until(lambda: len(second.taken) >= len(wanted) - before)
            assert [each.id for each in second.taken] == wanted[before:]
            await engine.deploy(library({}))
            async with asyncio.timeout(30):
                while any(task.get_name().startswith("sink:") for task in asyncio.all_tasks()):
                    await asyncio.sleep(0.01)
            await ran(engine)
        assert (len(first.taken), len(second.taken)) == (before, len(wanted) - before)


async def test_events_behind_what_was_pruned_are_sent(tmp_path: Path) -> None:
    async with receiving() as receiver, jeton.open(tmp_path / "s.db") as engine:
        await engine.deploy(library({"audit": to(receiver, events=["run.*"])}))
        await ran(engine, 2)
        await engine.prune(older_than_ms=0)
        await ran(engine)
        wanted = [at for at, _ in await told(engine, "run.")]
        async with sending(engine):
            await receiver.until(lambda: len(receiver.taken) >= len(wanted))
        assert [each.id for each in receiver.taken] == wanted
