"""A run that cannot be read is named, and hides no other."""

import pytest

from jeton.hosts.sqlite.file.connect import connect
from tests.cli.verbs import Verbs


def harm(jeton: Verbs, run: str) -> None:
    """Write something into the head of the run that its type does not have."""
    before, after = '"run":"', '"paused":"no","parent":5,"run":"'
    db = connect(jeton.store)
    said = f"cast(replace(cast(head as text), '{before}', '{after}') as blob)"
    changed = db.execute(f"update runs set head = {said} where run = ? returning run", (run,)).get
    assert changed == run
    db.close()


def harm_journal(jeton: Verbs, run: str) -> None:
    db = connect(jeton.store)
    db.execute('update journal set body = cast(\'{"number":"none"}\' as blob) where run = ?', (run,))
    db.close()


def test_lists_and_resume_go_on_with_the_others(jeton: Verbs) -> None:
    good = jeton.run("nap", "--wait", "0", exits=4)["run_id"]
    bad = jeton.run("nap", "--wait", "0", exits=4)["run_id"]
    harm(jeton, bad)
    listed = {run["run_id"]: run for run in jeton.json("ls")["runs"]}
    assert listed[good]["error"] is None
    assert listed[bad]["error"]["type"] == "run_damaged"
    assert "waiting, damaged" in jeton("ls").stdout
    resumed = jeton.json("resume", exits=5)
    assert [run["run_id"] for run in resumed["runs"]] == [good]
    assert list(resumed["damaged"]) == [bad]
    shown = jeton("resume")
    assert f"{good} nap@1 waiting" in shown.stdout
    assert f"run {bad} cannot be read" in shown.stderr


def test_a_row_that_cannot_be_read_at_the_end_is_listed_too(jeton: Verbs) -> None:
    bad = jeton.run("double", "--input", '{"n": 1}')["run_id"]
    harm(jeton, bad)
    (listed,) = jeton.json("ls")["runs"]
    assert (listed["run_id"], listed["status"], listed["error"]["type"]) == (bad, "completed", "run_damaged")


def test_to_show_it_is_a_refusal_that_says_what_to_do(jeton: Verbs) -> None:
    bad = jeton.run("nap", "--wait", "0", exits=4)["run_id"]
    harm(jeton, bad)
    refused = jeton.json("show", bad, exits=5)
    assert (refused["code"], refused["remedy"]) == ("run_damaged", "verify the store")


@pytest.mark.parametrize("verb", ["events", "explain", "tokens"])
def test_so_it_is_with_its_journal(jeton: Verbs, verb: str) -> None:
    bad = jeton.run("nap", "--wait", "0", exits=4)["run_id"]
    harm_journal(jeton, bad)
    assert jeton.json(verb, bad, exits=5)["code"] == "run_damaged"
