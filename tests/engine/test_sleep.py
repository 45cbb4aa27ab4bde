"""Nodes that sleep, on a real store: what is shown of them, what survives a kill, and what a fork shares."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.engine.stores import import_into
from jeton.engine.views.explain import explained
from jeton.hosts.sqlite.tools.portable import export_run
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.decision import SuspendToken, WakeToken
from jeton.model.json import JsonObject
from tests.engine.test_flows import flow, wire

DONE: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def nothing_done() -> None:
    DONE.clear()


def do(what: str) -> str:
    DONE[what] += 1
    return what


@jeton.node
async def rests(step: jeton.Steps, seconds: float) -> dict[str, Any]:
    do("called")
    before = await step.run("before", lambda: do("before"))
    await step.sleep(seconds, "rest")
    after = await step.run("after", lambda: do("after"))
    return {"made": [before, after]}


@jeton.node
def rests_in_a_thread(step: jeton.BlockingSteps, seconds: float) -> dict[str, Any]:
    before = step.run("before", lambda: do("before"))
    step.sleep(seconds, "rest")
    return {"made": [before, step.run("after", lambda: do("after"))]}


def resting(seconds: float, type: str = "rests") -> JsonObject:
    return flow({"a": {"type": type, "inputs": {"seconds": seconds}}, "b": {"type": "merge"}}, wire("a", "b", "made"))


MADE = {"made": ["before", "after"], "main": ["before", "after"]}


async def asleep(engine: jeton.Engine, library: JsonObject, **rest: Any) -> jeton.Run:
    """A run that was started, and waits with nothing of it in memory."""
    await engine.deploy(library)
    run = await engine.start("f", **rest)
    await engine.idle()
    assert (await run.record()).status == "waiting"
    return run


async def entry_with(engine: jeton.Engine, run: str, decision: type[SuspendToken | WakeToken]) -> int:
    journal = [entry async for entry in engine.journal(run)]
    return next(entry.number for entry in journal if any(isinstance(d, decision) for d in entry.decisions))


async def test_what_is_shown_of_a_node_that_sleeps(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        run = await asleep(engine, resting(600))
        record = await run.record()
        (token,) = await engine.tokens(run.id)
        told = explained(await engine.explain(run.id))
        supposed = await engine.simulate(run.id, 0, result={"made": 1})
        await run.cancel("enough")
        ended = await run.result(20)
    assert (record.waiting_at_node, record.waiting_label, record.current_nodes) == ("a", "rest", ("a",))
    assert record.next_step_at == token.due
    assert record.nodes["a"].status == "executing"
    assert (token.status, token.label, token.attempt) == ("waiting_for_timer", "rest", 1)
    assert "token 0 at 'a': the end of its sleep 'rest'" in told
    assert supposed.status == "completed"
    assert (ended.status, ended.next_step_at, ended.waiting_label) == ("cancelled", None, None)
    assert DONE == {"called": 1, "before": 1}
    assert verify(tmp_path / "runs.db").problems == ()


async def test_a_store_may_be_closed_while_a_node_sleeps(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        run = await asleep(engine, resting(0.5))
    async with jeton.open(tmp_path / "runs.db") as engine:
        record = await (await engine.run(run.id)).result(20)
    assert record.output == MADE
    assert DONE == {"called": 2, "before": 1, "after": 1}


async def test_more_nodes_sleep_than_there_are_threads(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(resting(600, "rests_in_a_thread"))
        runs = [await engine.start("f") for _ in range(40)]
        await engine.idle()
        assert DONE == {"before": 40}
        await asyncio.gather(*[run.cancel() for run in runs])


async def test_a_run_that_sleeps_goes_on_in_another_store(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        run = await asleep(engine, resting(0.5))
        file = export_run(tmp_path / "runs.db", run.id)
        await run.cancel("it is carried away")
    assert import_into(tmp_path / "other.db", file, 1).paused
    async with jeton.open(tmp_path / "other.db") as engine:
        await engine.unpause(run.id)
        record = await (await engine.run(run.id)).result(20)
        assert await entry_with(engine, run.id, SuspendToken) < await entry_with(engine, run.id, WakeToken)
    assert record.output == MADE
    assert DONE == {"called": 2, "before": 1, "after": 1}


# forks and retries


async def test_a_fork_of_a_run_that_sleeps_shares_what_was_done(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        run = await asleep(engine, resting(0.5))
        fork = await engine.fork(run.id, await entry_with(engine, run.id, SuspendToken))
        assert ((await run.result(20)).output, (await fork.result(20)).output) == (MADE, MADE)
    assert DONE == {"called": 3, "before": 1, "after": 2}
    assert verify(tmp_path / "runs.db").problems == ()


@pytest.mark.parametrize("decision", [SuspendToken, WakeToken])
async def test_what_was_done_after_the_shared_history_is_the_forks_own(
    tmp_path: Path, decision: type[SuspendToken | WakeToken]
) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        run = await asleep(engine, resting(0.2))
        await run.result(20)
        fork = await engine.fork(run.id, await entry_with(engine, run.id, decision))
        record = await fork.result(20)
    assert record.output == MADE
    assert DONE == {"called": 3, "before": 1, "after": 2}


@jeton.node
async def stumbles(step: jeton.Steps) -> dict[str, Any]:
    await step.run("before", lambda: do("before"))
    await step.sleep(0.15)
    if not DONE["stumbled"]:
        do("stumbled")
        raise ValueError("in the morning")
    return {"up": True}


async def test_a_retry_of_a_flow_begins_the_failed_node_anew(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        run = await asleep(engine, flow({"a": {"type": "stumbles"}}))
        assert (await run.result(20)).status == "failed"
        again = await (await engine.retry(run.id)).result(20)
    assert (again.status, again.output) == ("completed", {"up": True})
    assert DONE["before"] == 2


STUMBLES: JsonObject = {
    "workflows": {
        "w": {"initial_node": "a", "nodes": {"a": {"task": "t", "output_mapping": {"output.up": "result.up"}}}}
    },
    "tasks": {"t": {"steps": [{"action": "stumbles", "on_failure": "retry"}], "retry": {"max_attempts": 2}}},
}


async def test_the_next_attempt_does_not_sleep_again(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(STUMBLES)
        run = await engine.start("w", {})
        record = await run.result(20)
        journal = [entry async for entry in engine.journal(run.id)]
    decisions = [d for entry in journal for d in entry.decisions]
    assert (record.status, record.output) == ("completed", {"up": True})
    assert [d.attempt for d in decisions if isinstance(d, WakeToken)] == [1]
    assert DONE == {"before": 1, "stumbled": 1}


# what it costs


@jeton.node
async def spends(step: jeton.Steps) -> dict[str, Any]:
    await step.run("pay", lambda: jeton.current_call().cost(3))
    await step.sleep(0.15)
    jeton.current_call().cost(2)
    return {}


async def test_what_it_used_before_and_after_is_charged_once(tmp_path: Path) -> None:
    costs: JsonObject = {"project": {"settings": {"credits": {"costs": {"spends": 10}}}}}
    async with jeton.open(tmp_path / "runs.db") as engine:
        run = await asleep(engine, {**flow({"a": {"type": "spends"}}), **costs}, credits=20)
        assert (await run.result(20)).status == "completed"
        assert {each.node: each.credits for each in await engine.usage(run.id)} == {"a": 5}


# killed while it sleeps

APP = """
from pathlib import Path
import jeton

def note(what):
    with (Path(__file__).parent / "done.txt").open("a") as file:
        file.write(what + "\\n")
    return what

@jeton.node
async def dreams(main, step):
    note("called")
    first = await step.run("first", lambda: note("first"))
    await step.sleep(20, "dream")
    return {"made": [first, await step.run("second", lambda: note("second"))]}

night = jeton.Flow("night")
night.node("start", "trigger") >> night.node("dreams", dreams)
"""


def jeton_(folder: Path, *args: str, exits: int = 0) -> Any:
    done = subprocess.run(words(folder, *args), capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == exits, done.stdout + done.stderr
    return json.loads(done.stdout)


def words(folder: Path, *args: str) -> list[str]:
    return [sys.executable, "-m", "jeton.cli.main", *args, "--store", str(folder / "runs.db"), "--json"]


@pytest.mark.long
def test_a_process_that_is_killed_while_a_node_sleeps(tmp_path: Path) -> None:
    app, store = tmp_path / "night.py", tmp_path / "runs.db"
    app.write_text(APP)
    process = subprocess.Popen(words(tmp_path, "run", str(app)), cwd=tmp_path, stdout=subprocess.DEVNULL)
    while not (tmp_path / "done.txt").exists():
        assert process.poll() is None
    while True:  # the function was called; soon the run waits
        (run,) = jeton_(tmp_path, "ls")["runs"]
        if run["status"] == "waiting":
            break
        assert process.poll() is None
    process.kill()
    process.wait()
    shown = jeton_(tmp_path, "show", run["run_id"])
    assert (shown["status"], shown["waiting_at_node"], shown["waiting_label"]) == ("waiting", "dreams", "dream")
    assert shown["next_step_at"] is not None
    while shown["status"] != "completed":  # until its time has come there is nothing to be done
        jeton_(tmp_path, "resume", "--app", str(app))
        shown = jeton_(tmp_path, "show", run["run_id"])
    assert shown["output"] == {"made": ["first", "second"]}
    assert (tmp_path / "done.txt").read_text().split() == ["called", "first", "called", "second"]
    (token,) = [token for token in jeton_(tmp_path, "tokens", run["run_id"])["tokens"] if token["node"] == "dreams"]
    assert (token["attempt"], token["deliveries"]) == (1, 1)
    assert verify(store).problems == ()


@jeton.node
async def mistaken(step: jeton.Steps, data: dict[str, Any]) -> None:
    if data["how"] == "sleep":
        await step.sleep(data["value"])
    else:
        await step.run(data["value"], lambda: 1)


@pytest.mark.parametrize(
    ("how", "value", "says"),
    [
        pytest.param("sleep", None, "a sleep must be a number of seconds, not None", id="a sleep of nothing"),
        pytest.param("sleep", "5", "a sleep must be a number of seconds, not '5'", id="a sleep of a text"),
        pytest.param("sleep", -1, "a sleep must be between 0 seconds and 100 years", id="a sleep into the past"),
        pytest.param("run", None, "the name of a step must be a string, not None", id="a step without a name"),
    ],
)
async def test_a_step_that_is_none_says_what_it_needs(tmp_path: Path, how: str, value: object, says: str) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(flow({"a": {"type": "mistaken", "data": {"how": how, "value": value}}}))
        record = await (await engine.start("f")).result(30)
        assert record.error is not None
        assert record.error.message.startswith(says)
