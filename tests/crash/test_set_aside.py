"""A run that ends the process while it is advanced: set aside after three ends, while the others go on."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

import jeton
from jeton.hosts.sqlite.file.advancing import PAGE_BYTES, advancing_path
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from tests.hosts.process import ROOT

HEARS: JsonObject = {
    "initial_node": "a",
    "nodes": {"a": {"wait": {"signal": "go"}}, "b": {"action": {"kind": "mock", "implementation": {"output": {}}}}},
    "transitions": [{"from": "a", "to": "b"}],
}
CALLS: JsonObject = {
    "initial_node": "a",
    "nodes": {"a": {"wait": {"signal": "go"}}, "call": {"workflow": "poison", "on_failure": "catch"}},
    "transitions": [{"from": "a", "to": "call"}],
}
LIBRARY: JsonObject = {"workflows": {"poison": HEARS, "fine": HEARS, "calls": CALLS}}
AT_THE_SIGNAL = "SignalRun"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


async def parked(store: Path, *workflows: str, signalled: bool = True) -> list[str]:
    """Runs that wait for a signal, which is in their inboxes: no owner has seen it."""
    async with jeton.open(store) as engine:
        await engine.deploy(LIBRARY)
        runs = [(await engine.start(name)).id for name in workflows]
        await engine.idle()
    if signalled:
        leave_signals(store, runs)
    return [str(run) for run in runs]


def leave_signals(store: Path, runs: list[Any]) -> None:
    from jeton.hosts.sqlite.file.unowned import store_message
    from jeton.model.message import SignalRun

    for run in runs:
        store_message(store, run, SignalRun(1, f"s-{run}", "go", None))


def verb(store: Path, *words: str, dies_at: str | None = None) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON of a verb, in a process of its own."""
    module = ["jeton.cli.main"] if dies_at is None else ["tests.crash.poisoned", dies_at]
    command = [sys.executable, "-m", *module, *words, "--store", str(store), "--json"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    said: Any = json.loads(ended.stdout or "{}")
    return ended.returncode, cast("dict[str, Any]", said)


def die(store: Path, times: int, dies_at: str = AT_THE_SIGNAL) -> None:
    for _ in range(times):
        assert verb(store, "resume", dies_at=dies_at)[0] == -signal.SIGABRT


async def test_it_is_set_aside_after_three_ends_and_the_others_go_on(store: Path) -> None:
    poison, fine = await parked(store, "poison", "fine")
    die(store, 2)
    assert "set_aside" not in verb(store, "ls")[1]
    die(store, 1)
    listed = verb(store, "ls")[1]
    assert list(listed["set_aside"]) == [poison]
    assert f"jeton unpause {poison} --store {store}" in listed["set_aside"][poison]
    code, said = verb(store, "resume", dies_at=AT_THE_SIGNAL)
    assert (code, list(said["set_aside"])) == (5, [poison])
    listed = verb(store, "ls")[1]
    errors = {run["run_id"]: run["error"] and run["error"]["type"] for run in listed["runs"]}
    assert errors == {poison: "run_set_aside", fine: None}
    (status,) = (run["status"] for run in listed["runs"] if run["run_id"] == fine)
    assert status == "completed"  # now, or by a process that died later
    assert verb(store, "show", poison, dies_at=AT_THE_SIGNAL)[1]["error"]["type"] == "run_set_aside"
    assert verify(store).problems == ()


@pytest.mark.long
async def test_people_are_told(store: Path) -> None:
    (poison,) = await parked(store, "poison")
    die(store, 3)
    for words in (["ls"], ["resume"]):
        command = [sys.executable, "-m", "jeton.cli.main", *words, "--store", str(store)]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert f"run {poison} is set aside" in ended.stderr
        assert f"jeton cancel {poison} --store {store}" in ended.stderr


async def test_it_can_be_tried_again(store: Path) -> None:
    (poison,) = await parked(store, "poison")
    die(store, 3)
    assert verb(store, "unpause", poison, dies_at=AT_THE_SIGNAL)[0] == -signal.SIGABRT
    assert "set_aside" not in verb(store, "ls")[1]  # it has three tries again
    code, said = verb(store, "unpause", poison)
    assert (code, said["status"]) == (0, "completed")
    assert verify(store).problems == ()


async def test_it_can_be_cancelled(store: Path) -> None:
    (poison,) = await parked(store, "poison")
    die(store, 3)
    code, said = verb(store, "cancel", poison, dies_at=AT_THE_SIGNAL)
    assert (code, said["status"]) == (0, "cancelled")
    code, said = verb(store, "resume", dies_at=AT_THE_SIGNAL)
    assert (code, said["set_aside"]) == (0, {})
    assert verify(store).problems == ()


@pytest.mark.long
async def test_a_cancellation_that_ends_the_process_leaves_it_set_aside(store: Path) -> None:
    (poison,) = await parked(store, "poison")
    die(store, 3)
    assert verb(store, "cancel", poison, dies_at="CancelRun")[0] == -signal.SIGABRT
    code, said = verb(store, "resume", dies_at=AT_THE_SIGNAL)
    assert (code, list(said["set_aside"])) == (5, [poison])


async def test_ends_before_it_got_past_the_place_do_not_count(store: Path) -> None:
    (poison,) = await parked(store, "poison")
    die(store, 2)
    code, said = verb(store, "resume")
    assert (code, [run["status"] for run in said["runs"]]) == (0, ["completed"])
    assert not store.with_name("store.db-advancing").exists()
    assert said["runs"][0]["run_id"] == poison


@pytest.mark.long
async def test_work_that_is_done_again_in_between_is_no_progress(store: Path) -> None:
    """The lost task is handed out again, which succeeds each time; its result ends the process each time."""
    (poison,) = await parked(store, "poison")
    die(store, 3, "TaskFinished")
    code, said = verb(store, "resume", dies_at="TaskFinished")
    assert (code, list(said["set_aside"])) == (5, [poison])


async def test_a_call_whose_start_ends_the_process_fails(store: Path) -> None:
    (caller,) = await parked(store, "calls")
    die(store, 3, "StartRun")
    verb(store, "resume", dies_at="StartRun")
    listed = verb(store, "ls")[1]["runs"]
    assert [(run["run_id"], run["status"]) for run in listed] == [(caller, "completed")]
    assert verb(store, "resume", dies_at="StartRun")[1]["set_aside"] == {}
    assert verify(store).problems == ()


async def fired(store: Path) -> str:
    """A run that a trigger started: its start is in the inbox, and no owner has seen it."""
    from jeton.hosts.sqlite.file.unowned import store_message
    from jeton.model.message import StartRun
    from jeton.model.state.run import FiredBy

    await parked(store)
    start = StartRun(1, {"n": 1}, workflow="poison@1", trigger=FiredBy("event", 1, "t"))
    store_message(store, RunId("fired"), start)
    return "fired"


@pytest.mark.long
async def test_a_run_that_a_trigger_started_can_be_cancelled_though_its_start_ends_the_process(store: Path) -> None:
    run = await fired(store)
    die(store, 3, "StartRun")
    assert list(verb(store, "ls")[1]["set_aside"]) == [run]
    code, said = verb(store, "show", run, dies_at="StartRun")
    assert (code, said["code"]) == (5, "run_set_aside")
    code, said = verb(store, "cancel", run, dies_at="StartRun")
    assert (code, said["status"], said["workflow"], said["trigger_id"]) == (0, "cancelled", "poison", "t")
    code, said = verb(store, "resume", dies_at="StartRun")
    assert (code, said["set_aside"]) == (0, {})
    told = [event["type"] for event in verb(store, "events", run)[1]["events"]]
    assert told == ["run.submitted", "trigger.fired", "run.started", "run.cancelled"]
    assert verify(store).problems == ()


async def test_beside_an_owner_such_a_run_is_cancelled_too(store: Path) -> None:
    run = await fired(store)
    ends = {run: [["StartRun "]] * 3}
    advancing_path(store).write_bytes(bytes(PAGE_BYTES) + json.dumps(ends).encode())
    async with jeton.open(store) as owner, jeton.open(store, owner=False) as guest:
        assert list(owner.set_aside) == list(guest.set_aside) == [run]
        answer = await guest.cancel(run)
        assert (answer.outcome, answer.record.status) == ("accepted", "cancelled")
    assert verify(store).problems == ()


async def test_a_run_that_a_trigger_started_can_be_tried_again(store: Path) -> None:
    run = await fired(store)
    ends = {run: [["StartRun "]] * 3}
    advancing_path(store).write_bytes(bytes(PAGE_BYTES) + json.dumps(ends).encode())
    async with jeton.open(store) as engine:
        assert (await engine.unpause(run)).status == "waiting"
        assert engine.set_aside == {}


@pytest.mark.long
async def test_a_start_that_was_not_acknowledged_is_nothing_to_set_aside(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "library.json"
    file.write_text(json.dumps(LIBRARY))
    for _ in range(4):
        assert verb(store, "run", str(file), "poison", dies_at="StartRun")[0] == -signal.SIGABRT
    assert verb(store, "resume", dies_at="StartRun") == (
        0,
        {"runs": [], "conversations": [], "needs_app": {}, "damaged": {}, "set_aside": {}},
    )
