"""What would be decided if; and that nothing is."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import jeton
from jeton.engine.engine import Engine
from jeton.model.json import JsonObject
from tests.engine.waits import LIBRARY

SLOW: JsonObject = {"kind": "mock", "implementation": {"output": {}, "delay_ms": 60_000}}
PANEL: JsonObject = {
    "workflows": {
        "panel": {
            "initial_node": "ask",
            "nodes": {"ask": {}, "judge": {"action": SLOW}, "tally": {}},
            "transitions": [
                {"from": "ask", "to": "judge", "foreach": {"collection": "[1, 2, 3]"}},
                {"from": "judge", "to": "tally", "synchronization": {"strategy": "any"}},
            ],
        },
    }
}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with jeton.open(tmp_path / "runs.db", grace_s=0) as opened:
        await opened.deploy(LIBRARY)
        await opened.deploy(PANEL)
        yield opened


def words(found: jeton.WhatIf) -> list[object]:
    return [decision["do"] for decision in found.decisions]


async def parked(engine: Engine, workflow: str) -> str:
    run = await engine.start(workflow, {"what": "it"})
    if workflow != "panel":
        await engine.idle()
    return run.id


async def test_a_task_that_would_finish(engine: Engine) -> None:
    run = await parked(engine, "panel")
    before = await engine.tokens(run)
    found = await engine.simulate(run, 1, result={"ok": True})
    assert found.status == "completed"
    assert words(found)[0] == "finish_node"
    assert "open_fan_in" in words(found)
    assert [token.status for token in await engine.tokens(run)] == [token.status for token in before]


async def test_a_task_that_would_fail(engine: Engine) -> None:
    run = await parked(engine, "panel")
    found = await engine.simulate(run, 1, failure="it broke")
    assert found.status == "failed"
    assert words(found)[0] == "fail_node"


async def test_a_token_that_would_arrive_at_a_fan_in(engine: Engine) -> None:
    run = await parked(engine, "panel")
    found = await engine.simulate(run, 2, arrives_at="tally")
    assert words(found)[:3] == ["route_token", "park_token", "settle_slot"]
    assert "open_fan_in" in words(found)


@pytest.mark.parametrize(
    ("workflow", "value", "first"),
    [
        pytest.param("ask", {"ok": True}, "take_answer", id="an answer"),
        pytest.param("ask", {"ok": "?"}, "reply_to", id="an answer that is refused"),
        pytest.param("hear", 5, "keep_signal", id="a signal"),
        pytest.param("outer", {"said": "yes"}, "end_child", id="the end of a run it called"),
    ],
)
async def test_a_wait_that_would_be_over(engine: Engine, workflow: str, value: JsonObject, first: str) -> None:
    run = await parked(engine, workflow)
    found = await engine.simulate(run, 0, result=value)
    assert words(found)[0] == first
    assert (await engine.get(run)).status == "waiting"


async def test_a_question_that_cannot_be_asked(engine: Engine) -> None:
    run = await parked(engine, "ask")
    for how, code in (({}, "ambiguous"), ({"arrives_at": "yes"}, "no_fan_in")):
        with pytest.raises(jeton.Refused) as refused:
            await engine.simulate(run, 0, **how)
        assert refused.value.code == code
    with pytest.raises(jeton.Refused) as refused:
        await engine.simulate(run, 9, result=None)
    assert refused.value.code == "token_not_found"
