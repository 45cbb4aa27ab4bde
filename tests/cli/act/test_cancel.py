"""`jeton cancel`: with an owner at work, without one, and over a query."""

import pytest

import jeton as library
from tests.cli.served import both
from tests.cli.store.silent_owner import silent_owner
from tests.cli.verbs import Verbs


def waiting_run(jeton: Verbs) -> str:
    return str(jeton.run("nap", "--wait", "0", exits=4)["run_id"])


@both
def test_a_run_that_nobody_owns_is_cancelled_at_once(jeton: Verbs) -> None:
    run = waiting_run(jeton)
    found = jeton.json("cancel", run, "--reason", "no longer needed")
    assert (found["accepted"], found["status"]) == (True, "cancelled")
    assert found["error"]["message"] == "no longer needed"


@both
def test_a_run_that_has_ended_is_refused(jeton: Verbs) -> None:
    run = jeton.run("double", "--input", '{"n": 1}')["run_id"]
    assert jeton.json("cancel", run, exits=5)["status"] == "completed"


def test_a_run_is_cancelled_beside_its_owner(jeton: Verbs) -> None:
    run = waiting_run(jeton)
    with library.open_sync(jeton.store) as owner:
        assert jeton.json("cancel", run, "--reason", "from outside")["status"] == "cancelled"
        assert owner.get(run).status == "cancelled"


def test_beside_an_owner_that_does_not_answer_it_is_sent(jeton: Verbs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = waiting_run(jeton)
    with silent_owner(jeton.store, monkeypatch):
        found = jeton.json("cancel", run)
        assert (found["outcome"], found["accepted"], found["status"]) == ("sent", False, "waiting")
        assert "the cancellation is sent" in jeton("cancel", run).stdout
        (listed,) = jeton.json("cancel", "--workflow", "nap")["runs"]
        assert listed["outcome"] == "sent"
    jeton("resume")  # which may find it cancelled by the time it lists what is unfinished
    assert jeton.json("show", run)["status"] == "cancelled"


@both
def test_a_query_finds_the_unfinished_and_a_dry_run_touches_none(jeton: Verbs) -> None:
    runs = {waiting_run(jeton) for _ in range(2)}
    jeton.run("double", "--input", '{"n": 1}')
    would = jeton.json("cancel", "--workflow", "nap", "--dry-run")
    assert {run["run_id"] for run in would["runs"]} == runs
    assert {run["status"] for run in would["runs"]} == {"waiting"}
    did = jeton.json("cancel", "--workflow", "nap")
    assert {run["status"] for run in did["runs"]} == {"cancelled"}


def test_it_takes_a_run_or_a_query(jeton: Verbs) -> None:
    assert jeton("cancel").exit_code == 2
    assert jeton("cancel", "some-run", "--workflow", "nap").exit_code == 2
