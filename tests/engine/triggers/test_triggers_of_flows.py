"""Flows that start by themselves: for each cause there is, at the trigger node it names, or at the first."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import jeton
from jeton.hosts.sqlite.file.connect import connect
from jeton.model.json import JsonObject
from tests.cli.verbs import Verbs

JETON = str(Path(sys.executable).with_name("jeton"))


def entered(*nodes: str) -> JsonObject:
    """A flow that says at which of its trigger nodes it was entered."""
    said: JsonObject = {f"at_{node}": {"type": "set", "data": {"entered": f"'{node}'"}} for node in nodes}
    connections: list[JsonObject] = [{"from": node, "to": f"at_{node}"} for node in nodes]
    return {"nodes": {**{node: {"type": "trigger"} for node in nodes}, **said}, "connections": [*connections]}


CAUSES: dict[str, JsonObject] = {
    "schedule": {"type": "schedule", "cron": "@yearly", "missed": "once"},
    "webhook": {"type": "webhook", "path": "here"},
    "event": {"type": "event", "name": "told"},
    "run_finished": {"type": "run_finished", "workflow": "tell"},
}
TELL: JsonObject = {
    "initial_node": "tell",
    "nodes": {"tell": {"action": {"kind": "emit", "implementation": {"event": "told"}}, "input_mapping": {"n": "7"}}},
}
CASES = [
    pytest.param(cause, node, id=f"{cause}, {'at the second trigger' if node else 'at no trigger in particular'}")
    for cause in CAUSES
    for node in ("second", None)
]


def library(cause: str, node: str | None) -> JsonObject:
    at: JsonObject = {} if node is None else {"node": node}
    trigger: JsonObject = {**CAUSES[cause], "start": "f", "input": {"n": 1}, **at}
    return {"flows": {"f": entered("first", "second")}, "workflows": {"tell": TELL}, "triggers": {"t": trigger}}


def let_a_year_pass(store: Path) -> None:
    """As if the store had been closed for it: the schedule was last seen to then."""
    db = connect(store)
    db.execute("update triggers set seen = seen - 366 * 86400000")
    db.close()


@pytest.mark.parametrize(("cause", "node"), CASES)
async def test_a_flow_begins_at_the_trigger_node_that_fired(tmp_path: Path, cause: str, node: str | None) -> None:
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy(library(cause, node))
        match cause:
            case "schedule":
                pass
            case "webhook":
                await engine.deliver_webhook("here", b'{"n": 7}', {})
            case _:
                await engine.start("tell")
        await engine.idle()
    if cause == "schedule":
        let_a_year_pass(tmp_path / "runs.db")
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.idle()
        fired = [run.run_id for run in await engine.list(workflow="f")]
        assert len(fired) == 1
        record = await engine.get(fired[0])
        got = (await engine.context(fired[0])).input
    here, there = ("second", "first") if node else ("first", "second")
    assert (record.status, record.trigger_type, record.trigger_id) == ("completed", cause, "t")
    assert isinstance(record.output, dict)
    assert record.output["entered"] == here
    assert record.nodes[f"at_{there}"].skip_reason == "branch_not_taken"
    assert isinstance(got, dict)
    assert got["n"] == (7 if cause in ("webhook", "event") else 1)
    assert isinstance(got["_trigger"], dict)
    assert got["_trigger"]["type"] == cause


def deployed(verbs: Verbs, cause: str, node: str | None) -> str:
    file = verbs.folder / "flow.json"
    file.write_bytes(msgspec.json.encode(library(cause, node)))
    verbs("triggers", "--deploy", str(file))
    return str(file)


def the_run(verbs: Verbs) -> JsonObject:
    """The one run of the flow, as `show` has it."""
    (run,) = verbs.json("ls", "--workflow", "f")["runs"]
    shown: JsonObject = verbs.json("show", run["run_id"])
    return shown


@pytest.mark.parametrize(("cause", "node"), [case for case in CASES if case.values[0] != "schedule"])
def test_a_flow_is_started_at_the_command_line(tmp_path: Path, cause: str, node: str | None) -> None:
    verbs = Verbs(tmp_path)
    file = deployed(verbs, cause, node)
    if cause == "webhook":
        verbs.json("fire", "t")  # by hand, as any trigger can be: a server of one's own takes the requests
    else:
        verbs.json("run", file, "tell")
    verbs("resume")
    shown = the_run(verbs)
    assert (shown["status"], shown["trigger_id"]) == ("completed", "t")
    assert isinstance(shown["output"], dict)
    assert shown["output"]["entered"] == (node or "first")


@pytest.mark.parametrize("node", ["second", pytest.param(None, marks=pytest.mark.long)])
def test_resume_that_watches_starts_a_flow_by_its_schedule(tmp_path: Path, node: str | None) -> None:
    verbs = Verbs(tmp_path)
    deployed(verbs, "schedule", node)
    let_a_year_pass(verbs.store)
    watching = subprocess.Popen(
        [JETON, "resume", "--watch", "--json", "--store", str(verbs.store)],
        env=os.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while not verbs.json("ls", "--workflow", "f", "--status", "completed")["runs"]:
            assert watching.poll() is None, watching.communicate()
    finally:
        watching.send_signal(signal.SIGTERM)
        watching.communicate(timeout=30)
    assert watching.returncode == 0
    shown = the_run(verbs)
    assert isinstance(shown["output"], dict)
    assert (shown["trigger_type"], shown["output"]["entered"]) == ("schedule", node or "first")
    (firing,) = verbs.json("triggers", "--firings", "t")["firings"]
    assert firing["run_id"] == shown["run_id"]


@jeton.node
async def tells(publish: jeton.Publisher) -> dict[str, int]:
    await publish("told", {"n": 5})
    return {"n": 5}


async def test_what_a_node_of_a_flow_publishes_starts_another_and_the_flow_hears_of_it(tmp_path: Path) -> None:
    talks: JsonObject = {
        "nodes": {"say": {"type": "tells"}, "ask": {"type": "gate", "data": {"title": "well?"}}},
        "connections": [{"from": "say", "to": "ask"}],
    }
    trigger: JsonObject = {**CAUSES["event"], "condition": "event.n == 5", "start": "f", "node": "second"}
    async with jeton.open(tmp_path / "runs.db") as engine:
        await engine.deploy({"flows": {"f": entered("first", "second"), "talks": talks}, "triggers": {"t": trigger}})
        run = await engine.start("talks")
        await engine.idle()
        (fired,) = await engine.list(workflow="f")
        record = await run.record()
        assert (record.status, record.waiting_at_node) == ("waiting", "ask")
        assert [firing.run_id for firing in record.fired or ()] == [fired.run_id]
        told = [event async for event in engine.events(run.id) if event["type"] == "trigger.fired"]
        assert [(event["trigger"], event["started"]) for event in told] == [("t", fired.run_id)]
        await run.answer({})
        assert (await run.result(30)).status == "completed"
