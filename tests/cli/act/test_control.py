"""`jeton pause`, `unpause`, `retry`, `fork` and `what-if`."""

import json

import pytest

import jeton as library
from jeton.model.json import JsonObject
from tests.cli.served import both
from tests.cli.store.silent_owner import silent_owner
from tests.cli.verbs import Verbs


@both
def test_a_paused_run_begins_nothing_until_it_is_unpaused(jeton: Verbs) -> None:
    run = jeton.parked("ship")
    assert jeton.json("pause", run)["paused"] is True
    answered = jeton.json("answer", run, "--value", '{"ok": true}')
    assert (answered["outcome"], answered["status"]) == ("taken", "running")
    jeton.drive()
    assert jeton.json("show", run)["status"] == "running"
    found = jeton.json("unpause", run)
    assert (found["paused"], found["status"]) == (False, "completed")


def test_beside_the_owner(jeton: Verbs) -> None:
    run = jeton.parked("hear")
    with library.open_sync(jeton.store) as owner:
        assert jeton.json("pause", run)["paused"] is True
        assert owner.get(run).paused
        assert jeton.json("unpause", run)["paused"] is False


def test_beside_an_owner_that_does_not_answer_it_is_sent(jeton: Verbs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = jeton.parked("hear")
    with silent_owner(jeton.store, monkeypatch):
        found = jeton.json("pause", run)
        assert (found["outcome"], found["accepted"], found["paused"]) == ("sent", False, False)
        assert "the pause is sent" in jeton("pause", run).stdout
    assert jeton.json("resume")["runs"][0]["paused"] is True
    with silent_owner(jeton.store, monkeypatch):
        found = jeton.json("unpause", run)
        assert (found["outcome"], found["accepted"], found["paused"]) == ("sent", False, True)
    assert jeton.json("resume")["runs"][0]["paused"] is False


@both
def test_a_run_that_has_ended_is_refused(jeton: Verbs) -> None:
    run = jeton.run("double", "--input", '{"n": 1}')["run_id"]
    for verb in ("pause", "unpause"):
        assert jeton.json(verb, run, exits=5)["code"] == "run_ended"
        assert jeton.json(verb, "nobody", exits=3)["code"] == "unknown_run"
        assert jeton(verb).exit_code == 2


@both
def test_a_query_pauses_the_callers_and_not_the_called(jeton: Verbs) -> None:
    run = jeton.parked("calls")
    would = jeton.json("pause", "--status", "waiting", "--dry-run")
    assert [(each["run_id"], each["paused"]) for each in would["runs"]] == [(run, False)]
    assert [each["paused"] for each in jeton.json("pause", "--status", "waiting")["runs"]] == [True]
    jeton.drive()
    assert {each["paused"] for each in jeton.json("ls")["runs"]} == {True}
    assert not any("fired" in each for each in jeton.json("ls")["runs"])
    assert [each["paused"] for each in jeton.json("unpause", "--workflow", "calls")["runs"]] == [False]
    assert {each["paused"] for each in jeton.json("ls")["runs"]} == {False}


@both
def test_cancelling_over_a_query_leaves_no_caller_to_fail(jeton: Verbs) -> None:
    jeton.parked("calls")
    jeton("cancel", "--status", "waiting")
    jeton.drive()
    assert {each["status"] for each in jeton.json("ls")["runs"]} == {"cancelled"}


@both
def test_a_retry_is_a_new_linked_run(jeton: Verbs) -> None:
    run = jeton.run("slip", "--input", '{"n": 3}', exits=1)
    again = jeton.json("retry", run["run_id"], exits=1)
    assert again["run_id"] != run["run_id"]
    assert again["forked_from"]["run_id"] == run["run_id"]
    assert jeton.json("show", again["run_id"])["forked_from"] == again["forked_from"]


@both
def test_only_what_failed_is_retried(jeton: Verbs) -> None:
    run = jeton.run("double", "--input", '{"n": 1}')["run_id"]
    assert jeton.json("retry", run, exits=5)["code"] == "not_failed"
    assert jeton.json("retry", "nobody", exits=3)["code"] == "unknown_run"


@both
def test_a_fork_with_edited_state_goes_its_own_way(jeton: Verbs) -> None:
    run = jeton.run("slip", "--input", '{"n": 3}', exits=1)["run_id"]
    found = jeton.json("fork", run, "--at", "0", "--set", "state.n=7")
    assert (found["status"], found["output"]) == ("completed", {"n": 7})
    assert found["forked_from"] == {"run_id": run, "entry": 0}
    assert jeton.json("show", run)["status"] == "failed"


@both
def test_a_fork_that_cannot_be_made(jeton: Verbs) -> None:
    run = jeton.run("slip", "--input", '{"n": 3}', exits=1)["run_id"]
    assert jeton.json("fork", run, "--at", "99", exits=3)["code"] == "unknown_entry"
    assert jeton.json("fork", run, "--at", "0", "--set", "input.n=1", exits=2)["code"] in ("bad_path", "bad_argument")
    assert jeton.json("fork", run, "--at", "0", "--set", "state.n={", exits=2)["code"] == "input_invalid"
    assert jeton("fork", run, "--at", "0", "--set", "nonsense").exit_code == 2
    assert jeton("fork", run).exit_code == 2


@both
def test_a_fork_that_waits_is_left_when_time_is_up(jeton: Verbs) -> None:
    run = jeton.parked("hear")
    assert jeton.json("fork", run, "--at", "0", "--wait", "0", exits=4)["status"] in ("running", "waiting")


@both
def test_what_if_says_and_does_nothing(jeton: Verbs) -> None:
    run = jeton.parked("hear")
    found = jeton.json("what-if", run, "0", "--result", "5")
    assert [decision["do"] for decision in found["decisions"]][:2] == ["keep_signal", "take_signal"]
    assert found["status"] == "completed"
    assert "would be completed" in jeton("what-if", run, "0", "--result", "5").stdout
    assert jeton.json("show", run)["status"] == "waiting"
    assert jeton.json("what-if", run, "7", "--result", "5", exits=3)["code"] == "token_not_found"
    assert jeton.json("what-if", run, "0", exits=2)["code"] == "ambiguous"


@both
def test_events_of_a_root_carry_those_of_its_children(jeton: Verbs) -> None:
    run = jeton.parked("calls")
    jeton("answer", run, "--value", json.dumps({"ok": True}))
    events = jeton.json("events", run)["events"]
    assert {event["run_id"] for event in events} == {run, f"{run}.0"}
    assert (events[-1]["run_id"], events[-1]["type"]) == (run, "run.completed")
    assert f"run={run}.0" in jeton("events", run).stdout
    assert jeton.json("show", f"{run}.0")["parent_run_id"] == run


def test_a_version_that_is_not_there_is_a_definition_error(jeton: Verbs) -> None:
    flows: JsonObject = {
        "a": {"initial_node": "x", "nodes": {"x": {"workflow": "b@4"}}},
        "b": {"initial_node": "x", "nodes": {"x": {}}},
    }
    jeton.library.write_text(json.dumps({"workflows": flows}))
    found = jeton.run("a", exits=2)
    assert [problem["code"] for problem in found["problems"]] == ["unknown_version"]
