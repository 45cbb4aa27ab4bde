"""What a run's actions say while it runs, and what they leave: events, metrics, and no secret in any log."""

import asyncio
import logging
from pathlib import Path

import msgspec
import pytest

import jeton
from jeton.model.json import JsonObject

ORDER: JsonObject = {
    "workflows": {
        "order": {
            "initial_node": "tell",
            "nodes": {"tell": {"task": "tell"}},
        }
    },
    "tasks": {
        "tell": {
            "steps": [
                {
                    "ref": "emit",
                    "action": {"kind": "emit", "implementation": {"event": "order.placed"}},
                    "input_mapping": {"order": "input.order", "note": "input.note"},
                },
                {
                    "ref": "count",
                    "action": {"kind": "metric", "implementation": {"name": "orders_total"}},
                    "input_mapping": {"value": 2},
                },
                {"ref": "print", "action": {"kind": "shell", "implementation": {"argv": ["echo", "done"]}}},
            ]
        }
    },
}


async def test_events_metrics_and_what_a_program_prints_outlive_the_engine(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(ORDER)
        runs = [await engine.start("order", {"order": number}) for number in (1, 2)]
        for run in runs:
            assert (await run.result(30)).status == "completed"
    async with jeton.open(tmp_path / "runs.db", owner=False) as engine:
        (event,) = await engine.emitted(run=runs[1].id)
        assert (event.event, event.data, event.run_id) == ("order.placed", {"order": 2, "note": None}, runs[1].id)
        assert len(await engine.emitted(event="order.placed")) == 2
        assert await engine.emitted(event="order.paid") == ()
        assert [(each.name, each.value) for each in await engine.metrics(runs[0].id)] == [("orders_total", 2)]
        assert [(each.name, each.value) for each in await engine.metrics()] == [("orders_total", 4)]
        events = [event async for event in engine.events(runs[0].id)]
        (printed,) = (event for event in events if event["type"] == "task.log")
        assert (printed["step"], printed["stream"], printed["text"]) == ("print", "stdout", "done\n")
        (missing,) = (event for event in events if event["type"] == "task.missing")
        assert (missing["step"], msgspec.json.encode(missing["paths"])) == ("emit", b'["input.note"]')
        explained = await engine.explain(runs[0].id)
        assert isinstance(explained, jeton.RunExplained)
        assert [(each.node, each.paths) for each in explained.missing] == [("tell", ("input.note",))]
        assert [event["seq"] for event in events] == list(range(len(events)))


@jeton.action
async def leaky() -> None:
    jeton.current_call().progress(0.5, "halfway")
    logging.getLogger("some.library").warning("the server said %s", "correct horse battery staple")


async def test_log_lines_are_redacted_while_an_engine_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CANARY", "correct horse battery staple")
    library: JsonObject = {
        "project": {"settings": {"secrets": {"TOKEN": {"env": "CANARY"}}}},
        "workflows": {"leaky": {"initial_node": "a", "nodes": {"a": {"task": "a"}}}},
        "tasks": {
            "a": {
                "steps": [
                    {"ref": "know", "action": {"kind": "shell", "implementation": {"argv": ["true"]}}},
                    {"ref": "leak", "action": "leaky"},
                ]
            }
        },
    }
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library)
        run = await engine.start("leaky")
        assert (await run.result(30)).status == "completed"
        said = [event async for event in engine.events(run.id) if event["type"] == "task.progress"]
        assert [(event["done"], event["text"], event["step"]) for event in said] == [(0.5, "halfway", "leak")]
    assert "the server said [secret TOKEN]" in caplog.text
    assert "battery" not in caplog.text
    caplog.clear()
    logging.getLogger("some.library").warning("correct horse battery staple")
    assert "battery" in caplog.text, "afterwards the program's logs are its own again"


_heard = asyncio.Event()


@jeton.action
async def long_winded() -> None:
    jeton.current_call().progress(0.1, "begun")
    await _heard.wait()


async def test_a_task_that_goes_on_is_heard_before_it_ends(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy({"workflows": {"w": {"initial_node": "a", "nodes": {"a": {"action": "long_winded"}}}}})
        run = await engine.start("w")
        async with asyncio.timeout(30):
            async for event in run.events():
                if event["type"] == "task.progress":
                    _heard.set()
        assert (await run.result(30)).status == "completed"
