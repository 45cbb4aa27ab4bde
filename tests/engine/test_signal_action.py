"""Runs that signal runs, on every host."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import jeton
from jeton.actor.replies import HostSignals
from jeton.executor.signals import SentSignal
from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject
from tests.conformance.hosts import Open, Opened, simulated, sqlite

TELL: JsonObject = {
    "action": {"kind": "signal"},
    "input_mapping": {"run": "input.run", "name": "input.name", "value": "input.value"},
    "output_mapping": {"output.signal": "result.signal"},
}
WORKFLOWS: JsonObject = {
    "hear": {
        "initial_node": "hold",
        "nodes": {
            "hold": {
                "wait": {"signal": "paid", "schema": {"type": "integer"}},
                "output_mapping": {"output.v": "result"},
            }
        },
    },
    "tell": {
        "initial_node": "tell",
        "nodes": {"tell": TELL, "failed": {"output_mapping": {"output.error": "state._last_error"}}},
        "transitions": [{"from": "tell", "to": "failed", "condition": "has(state._last_error)"}],
        "on_no_match": "complete",
    },
}
LIBRARY: JsonObject = {"workflows": WORKFLOWS}


@pytest.fixture(params=[pytest.param(simulated, id="simulated"), pytest.param(sqlite, id="sqlite")])
async def opened(request: pytest.FixtureRequest) -> AsyncIterator[Opened]:
    host: Open = request.param
    async with host() as opened:
        await opened.engine.deploy(LIBRARY)
        yield opened


async def told(opened: Opened, run: str, name: str, value: object) -> JsonObject:
    """The output of a run that signals."""
    started = await opened.engine.start("tell", {"run": run, "name": name, "value": value})
    output = (await started.result()).output
    assert isinstance(output, dict)
    return output


async def test_a_run_that_waits_takes_what_another_run_sends(opened: Opened) -> None:
    run = await opened.engine.start("hear")
    assert await told(opened, run.id, "paid", 7) == {"signal": "paid"}
    assert (await run.result()).output == {"v": 7}


@pytest.mark.parametrize(
    ("name", "value", "type", "message"),
    [
        pytest.param("payed", 7, "unknown_signal", "write 'paid'", id="a name that no node waits for"),
        pytest.param("paid", "much", "signal_refused", "not of type", id="a value that does not fit"),
    ],
)
async def test_a_signal_that_is_refused_fails_the_node(
    opened: Opened, name: str, value: object, type: str, message: str
) -> None:
    run = await opened.engine.start("hear")
    error = (await told(opened, run.id, name, value))["error"]
    assert isinstance(error, dict)
    assert error["type"] == type
    assert message in str(error["message"])
    assert (await opened.engine.get(run.id)).completed_at is None


async def test_a_run_that_has_ended_or_never_was_takes_nothing(opened: Opened) -> None:
    run = await opened.engine.start("hear")
    await opened.engine.signal(run.id, "paid", 1)
    await run.result()
    errors = [(await told(opened, each, "paid", 7))["error"] for each in (run.id, "nobody")]
    assert [error["type"] for error in errors if isinstance(error, dict)] == ["run_ended", "unknown_run"]


async def test_a_call_that_is_made_again_is_one_signal_also_after_the_run_has_ended(opened: Opened) -> None:
    run = await opened.engine.start("hear")
    signals, sent = HostSignals(opened.host), SentSignal(run.id, "paid", 7, "tell:0:1:tell")
    await signals.send(sent)
    assert (await run.result()).output == {"v": 7}
    await signals.send(sent)  # as after a crash that cut the first call off
    with pytest.raises(Refused) as found:
        await signals.send(SentSignal(run.id, "paid", 8, "another"))
    assert found.value.code == "run_ended"


HELD: dict[str, asyncio.Event] = {}


@jeton.action
async def hold_on() -> dict[str, str]:
    """Waits until the store is being closed."""
    HELD["begun"].set()
    await HELD["closing"].wait()
    return {}


async def test_a_signal_that_a_closing_store_does_not_take_is_sent_by_the_next_owner(tmp_path: Path) -> None:
    HELD.update(begun=asyncio.Event(), closing=asyncio.Event())
    steps: list[Json] = [
        {"ref": "hold", "action": "hold_on", "input_mapping": {}},
        {"ref": "tell", "action": TELL["action"], "input_mapping": TELL["input_mapping"]},
    ]
    slow: JsonObject = {"initial_node": "tell", "nodes": {"tell": {"task": {"steps": steps}}}}
    async with jeton.open(tmp_path / "runs.db", grace_s=0.2) as engine:
        await engine.deploy({**LIBRARY, "workflows": {**WORKFLOWS, "slow": slow}})
        hears = await engine.start("hear")
        tells = await engine.start("slow", {"run": hears.id, "name": "paid", "value": 7})
        await HELD["begun"].wait()
        asyncio.get_running_loop().call_later(0.05, HELD["closing"].set)  # the store closes meanwhile
    async with jeton.open(tmp_path / "runs.db") as engine:
        assert (await engine.ended(tells.id)).status == "completed"
        assert (await engine.ended(hears.id)).output == {"v": 7}
