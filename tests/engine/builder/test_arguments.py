"""What is asked of the engine in the wrong types: refused, and the store is as readable as before."""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias, cast

import pytest
from _pytest.mark import ParameterSet

import jeton
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.json import JsonObject

HALF = "\ud800"
FLOWS: JsonObject = {
    "flows": {
        "f": {
            "nodes": {"g": {"type": "gate", "data": {"title": "ok?"}}, "w": {"type": "wait", "data": {"seconds": 600}}},
            "connections": [],
        },
    },
    "triggers": {"m": {"type": "manual", "start": "f"}},
}

Asked: TypeAlias = Callable[[Any, str], Awaitable[object]]


def wrong(asked: Asked, code: str, id: str) -> ParameterSet:
    """What is asked of the engine, about a run, in types that it does not take."""
    return pytest.param(asked, code, id=id)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncGenerator[jeton.Engine, None]:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(FLOWS)
        yield engine


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        wrong(lambda e, _: e.start("f", {}, credits=5.5), "bad_amount", id="start: half a credit"),
        wrong(lambda e, _: e.start("f", {}, credits=math.nan), "bad_amount", id="start: nan credits"),
        wrong(lambda e, _: e.start("f", {}, credits=True), "bad_amount", id="start: true credits"),
        wrong(lambda e, _: e.start("f", {}, credits=1 << 53), "bad_amount", id="start: too many credits"),
        wrong(lambda e, _: e.start("f", {}, key=5), "bad_argument", id="start: key"),
        wrong(lambda e, _: e.start("f", {}, key=HALF), "bad_argument", id="start: half a character"),
        wrong(lambda e, _: e.start("f", {}, overrides=5), "bad_argument", id="start: overrides"),
        wrong(lambda e, _: e.start("f", {}, overrides={"g": 5}), "bad_argument", id="start: inputs of a node"),
        wrong(lambda e, _: e.start(5), "bad_argument", id="start: workflow"),
        wrong(lambda e, run: e.cancel(run, 5), "bad_argument", id="cancel: reason"),
        wrong(lambda e, run: e.cancel(run, None), "bad_argument", id="cancel: no reason"),
        wrong(lambda e, run: e.cancel(run, HALF), "bad_argument", id="cancel: half a character"),
        wrong(lambda e, run: e.answer(run, {}, by=7), "bad_argument", id="answer: by"),
        wrong(lambda e, run: e.answer(run, {}, node=7), "bad_argument", id="answer: node"),
        wrong(lambda e, run: e.answer(run, {}, gate=7), "bad_argument", id="answer: gate"),
        wrong(lambda e, run: e.answer(run, {"x": [math.nan]}), "input_invalid", id="answer: nan"),
        wrong(lambda e, run: e.answer(run, 10**40), "input_invalid", id="answer: a large number"),
        wrong(lambda e, run: e.answer(run, HALF), "input_invalid", id="answer: half a character"),
        wrong(lambda e, run: e.signal(run, 5), "bad_argument", id="signal: name"),
        wrong(lambda e, run: e.signal(run, "go", 1, key=5), "bad_argument", id="signal: key"),
        wrong(lambda e, run: e.signal(run, "go", -math.inf), "input_invalid", id="signal: infinity"),
        wrong(lambda e, run: e.signal(run, "go", {"x": 2**63}), "input_invalid", id="signal: a large number"),
        wrong(lambda e, run: e.fork(run, 1.5), "bad_argument", id="fork: entry"),
        wrong(lambda e, run: e.fork(run, 0, {5: 1}), "bad_argument", id="fork: path"),
        wrong(lambda e, run: e.fork(run, 0, {"state.x": math.nan}), "input_invalid", id="fork: nan"),
        wrong(lambda e, run: e.retry(run, credits=1.5), "bad_amount", id="retry: credits"),
        wrong(lambda e, _: e.top_up(1.5), "bad_amount", id="top up: half a credit"),
        wrong(lambda e, _: e.top_up(True), "bad_amount", id="top up: true"),
        wrong(lambda e, _: e.fire("m", {}, delivery_id=5), "bad_argument", id="fire: delivery"),
        wrong(lambda e, _: e.deliver_webhook("p", "text", {}), "bad_argument", id="webhook: body"),
        wrong(lambda e, _: e.get(5), "bad_argument", id="get"),
        wrong(lambda e, _: e.get(HALF), "bad_argument", id="get: half a character"),
        wrong(lambda e, _: e.list(limit=1.5), "bad_argument", id="list: limit"),
        wrong(lambda e, _: e.list(limit=0), "bad_argument", id="list: none"),
        wrong(lambda e, _: e.list(status=5), "bad_argument", id="list: status"),
        wrong(lambda e, _: e.usage(workflow=5), "bad_argument", id="usage"),
        wrong(lambda e, _: e.firings(5), "bad_argument", id="firings"),
        wrong(lambda e, _: e.emitted(limit="x"), "bad_argument", id="emitted"),
    ],
)
async def test_it_is_refused_and_nothing_is_stored(
    tmp_path: Path, engine: jeton.Engine, asked: Asked, code: str
) -> None:
    run = (await engine.start("f", {})).id
    await engine.idle()
    before = [event["type"] async for event in engine.events(run)]
    with pytest.raises(jeton.Refused) as refused:
        await asked(engine, run)
    assert refused.value.code == code
    assert refused.value.remedy
    assert [record.run_id for record in await engine.list()] == [run]
    assert [event["type"] async for event in engine.events(run)] == before
    assert verify(tmp_path / "runs.db").ok


async def test_an_answer_may_be_any_plain_data(engine: jeton.Engine) -> None:
    run = await engine.start("f", {})
    assert (await engine.answer(run.id, cast("Any", {"pair": (1, 2)}), by="")).outcome == "taken"
    assert (await run.record()).nodes["g"].outputs == {"pair": [1, 2]}
