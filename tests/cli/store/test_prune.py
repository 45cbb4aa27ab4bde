"""`jeton prune`: old runs are counted and removed, others are kept."""

from typing import get_args

import pytest

import jeton as library
from jeton.cli.options import DURATION, ENDED, UNFINISHED
from jeton.model.state.run import TERMINAL, RunStatus
from tests.cli.served import both
from tests.cli.verbs import Verbs


def three(jeton: Verbs) -> dict[str, str]:
    """One completed, one failed and one waiting run, by status."""
    return {
        "completed": jeton.run("double", "--input", '{"n": 1}')["run_id"],
        "failed": jeton.run("broken", exits=1)["run_id"],
        "waiting": jeton.parked("nap"),
    }


def kept(jeton: Verbs) -> set[str]:
    return {run["run_id"] for run in jeton.json("ls")["runs"]}


@both
def test_ended_runs_are_removed_and_unfinished_ones_are_kept(jeton: Verbs) -> None:
    runs = three(jeton)
    assert jeton.json("prune", "--older-than", "0s") == {"pruned": 2}
    assert kept(jeton) == {runs["waiting"]}
    assert jeton("prune", "--older-than", "0s").stdout == "removed 0 runs\n"


@both
def test_a_dry_run_counts_and_removes_nothing(jeton: Verbs) -> None:
    runs = three(jeton)
    assert jeton.json("prune", "--older-than", "0s", "--dry-run") == {"pruned": 0, "would_prune": 2}
    assert jeton("prune", "--older-than", "0s", "--dry-run").stdout == "would remove 2 runs\n"
    assert kept(jeton) == set(runs.values())


def test_younger_runs_are_kept(jeton: Verbs) -> None:
    runs = three(jeton)
    assert jeton.json("prune") == {"pruned": 0}
    assert kept(jeton) == set(runs.values())


@both
def test_only_runs_with_the_status_are_removed(jeton: Verbs) -> None:
    runs = three(jeton)
    assert jeton("prune", "--older-than", "0s", "--status", "failed").stdout == "removed 1 run\n"
    assert kept(jeton) == {runs["completed"], runs["waiting"]}
    both = ("--status", "failed", "--status", "completed")
    assert jeton.json("prune", "--older-than", "0s", *both) == {"pruned": 1}


def test_only_runs_of_the_workflow_are_removed(jeton: Verbs) -> None:
    runs = three(jeton)
    assert jeton.json("prune", "--older-than", "0s", "--workflow", "double") == {"pruned": 1}
    assert kept(jeton) == {runs["failed"], runs["waiting"]}


def test_a_store_with_another_owner_is_not_pruned(jeton: Verbs) -> None:
    runs = three(jeton)
    with library.open_sync(jeton.store, work=False):
        assert jeton.json("prune", "--older-than", "0s", exits=5)["code"] == "not_owner"
    assert kept(jeton) == set(runs.values())


def test_a_removed_run_is_unknown_and_its_start_key_gives_no_new_one(jeton: Verbs) -> None:
    keyed = ("double", "--input", '{"n": 1}', "--key", "k")
    run = jeton.run(*keyed)["run_id"]
    jeton.json("prune", "--older-than", "0s")
    assert jeton.json("show", run, exits=3)["code"] == "unknown_run"
    assert jeton.run(*keyed, exits=3)["code"] == "unknown_run"
    assert kept(jeton) == set()


def test_there_must_be_a_store(jeton: Verbs) -> None:
    assert jeton.json("prune", exits=3)["code"] == "no_store"


def test_every_status_is_that_of_an_ended_or_of_an_unfinished_run() -> None:
    assert set(ENDED) == TERMINAL
    assert sorted(ENDED + UNFINISHED) == sorted(get_args(RunStatus))


@pytest.mark.parametrize("status", ["waiting", "gone"])
def test_a_status_must_be_one_of_ended_runs(jeton: Verbs, status: str) -> None:
    assert jeton("prune", "--status", status).exit_code == 2


@pytest.mark.parametrize(
    ("text", "ms"),
    [("0s", 0), ("90s", 90_000), ("45m", 2_700_000), ("12h", 43_200_000), ("30d", 2_592_000_000), ("1w", 604_800_000)],
)
def test_an_age_is_a_number_with_a_unit(text: str, ms: int) -> None:
    assert DURATION.convert(text, None, None) == ms


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1.5h", "30 d", "3y", "٣d"])
def test_anything_else_is_no_age(jeton: Verbs, text: str) -> None:
    done = jeton("prune", "--older-than", text)
    assert done.exit_code == 2
    assert "is not a number with a unit" in done.output
