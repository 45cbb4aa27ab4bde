"""What a second start means, what an impossible one leads to, and what a fork begins with."""

import pytest

from jeton.actor.journal import decode_entry, first_hash, next_hash
from jeton.actor.rows import run_row
from jeton.actor.starts import (
    NewFork,
    NewRun,
    StartKey,
    check_same_input,
    check_same_run,
    check_start,
    fresh_run,
    impossible_start,
    input_hash,
    plan_fork,
    start_message,
)
from jeton.model import message as m
from jeton.model.failure import Refused, RunError
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.state.run import FiredBy, Parent
from tests.actor.journal import WORK, Journal, done, program

FORK = RunId("fork")
GONE = RunError("unknown_workflow", "it is gone")


def new(input: Json = None, **rest: object) -> NewRun:
    return NewRun("w", 3, {"a": 1, "b": 2} if input is None else input, **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("other", "same"),
    [
        pytest.param(new({"b": 2, "a": 1}), True, id="the order of keys does not matter"),
        pytest.param(new(key="k", run=RunId("r"), credits=5), True, id="nor what the run is not given"),
        pytest.param(new({"a": 1, "b": 2.5}), False, id="another value does"),
        pytest.param(new({"a": 1}), False, id="and a missing one"),
        pytest.param(new(overrides={"n": {"x": 1}}), False, id="and inputs of nodes"),
    ],
)
def test_starts_give_a_run_the_same(other: NewRun, same: bool) -> None:
    assert (input_hash(new()) == input_hash(other)) == same
    known = StartKey("w", "k", RunId("r"), input_hash(new()))
    if same:
        check_same_input(known, input_hash(other))
    else:
        with pytest.raises(Refused, match="with other input") as refused:
            check_same_input(known, input_hash(other))
        assert refused.value.code == "key_conflict"


@pytest.mark.parametrize(
    ("workflow", "input", "same"),
    [
        pytest.param("w", {"b": 2, "a": 1}, True, id="the same run"),
        pytest.param("v", {"a": 1, "b": 2}, False, id="a run of another workflow"),
        pytest.param("w", {"a": 1}, False, id="a run with other input"),
    ],
)
def test_a_name_that_a_run_has_already(workflow: str, input: Json, same: bool) -> None:
    if same:
        check_same_run(RunId("r"), workflow, input, new())
    else:
        with pytest.raises(Refused) as refused:
            check_same_run(RunId("r"), workflow, input, new())
        assert refused.value.code == "run_exists"


def test_only_what_the_host_cannot_check_later_is_checked_at_once() -> None:
    check_start(new({"any": object()}))  # type: ignore[dict-item]
    with pytest.raises(Refused, match="cannot be stored"):
        check_start(new(overrides={"n": {"x": object()}}))
    with pytest.raises(Refused, match="cannot be stored"):
        check_start(new(credits="many"))


def test_the_first_message_has_all_that_the_start_says() -> None:
    fired = FiredBy("manual", 2)
    given = new(overrides={"n": {"x": 1}}, trigger=fired, credits=9)
    assert start_message(given, 7) == m.StartRun(
        7, {"a": 1, "b": 2}, trigger=fired, overrides={"n": {"x": 1}}, credits=9
    )
    head = fresh_run(RunId("r"), "w", 3).state.head
    assert (head.run, head.workflow, head.version, head.entries) == ("r", "w", 3, 0)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        pytest.param(
            m.StartRun(1, {}, "c@9", Parent(RunId("r"), TokenId(4), RunId("r"), 1)),
            (
                RunId("r"),
                m.ChildEnded(5, TokenId(4), RunId("r.4"), "failed", error=RunError("unknown_workflow", "it is gone")),
            ),
            id="the caller of a run that cannot be started is told why",
        ),
        pytest.param(m.StartRun(1, {}, "c@9"), None, id="without a caller nobody is"),
        pytest.param(m.ContinueRun(1), None, id="another message starts nothing"),
    ],
)
def test_an_impossible_start(message: m.Message, told: object) -> None:
    assert impossible_start(RunId("r.4"), message, Refused("unknown_workflow", "it is gone", ""), 5) == told


@pytest.fixture
def journal() -> Journal:
    found = Journal(program(a=WORK))
    found.tell(m.StartRun(10, {"n": 1}))
    found.tell(m.TaskSuspended(20, TokenId(0), 1, 30, "nap"))
    found.tell(m.AlarmRang(30))
    found.tell(done(0, at=40))
    return found


def test_a_fork_shares_entries_under_a_chain_of_its_own(journal: Journal) -> None:
    entries = [decode_entry(body) for body in journal.entries]
    planned = plan_fork(NewFork(RunId("r"), 1, credits=4), run_row(journal.run.state.head, None), entries, FORK, 50)
    assert [shared.body for shared in planned.shared] == journal.entries[:2]
    first = next_hash(first_hash(FORK), journal.entries[0])
    assert [shared.hash for shared in planned.shared] == [first, next_hash(first, journal.entries[1])]
    assert planned.live.state.head.run == FORK
    assert planned.live.state.head.entries == 2
    assert planned.message == m.ForkRun(50, RunId("r"), 1, 20, {}, credits=4)
    assert planned.sleeping == {TokenId(0): "nap"}


def test_a_fork_with_an_edited_state_shares_no_steps(journal: Journal) -> None:
    entries = [decode_entry(body) for body in journal.entries]
    fork = NewFork(RunId("r"), 1, {"state.v": 2})
    assert plan_fork(fork, run_row(journal.run.state.head, None), entries, FORK, 50).sleeping == {}


def test_a_fork_at_the_end_does_the_last_thing_again(journal: Journal) -> None:
    entries = [decode_entry(body) for body in journal.entries]
    planned = plan_fork(NewFork(RunId("r"), 3), run_row(journal.run.state.head, None), entries, FORK, 50)
    assert not planned.live.state.head.ended


@pytest.mark.parametrize(
    ("fork", "kept", "code"),
    [
        pytest.param(NewFork(RunId("r"), 9), 4, "unknown_entry", id="at an entry that is not there"),
        pytest.param(NewFork(RunId("r"), 1), 3, "history_pruned", id="of a history that is gone"),
        pytest.param(NewFork(RunId("r"), 1, {"state.v": object()}), 4, "bad_value", id="with what is no JSON"),  # type: ignore[dict-item]
    ],
)
def test_forks_that_are_refused(journal: Journal, fork: NewFork, kept: int, code: str) -> None:
    entries = [decode_entry(body) for body in journal.entries]
    with pytest.raises(Refused) as refused:
        plan_fork(fork, run_row(journal.run.state.head, None), entries[-kept:], FORK, 50)
    assert refused.value.code == code


def test_a_run_that_another_called_is_not_forked(journal: Journal) -> None:
    journal.run.state.head.parent = Parent(RunId("p"), TokenId(1), RunId("root"), 2)
    with pytest.raises(Refused, match="goes on only with it") as refused:
        plan_fork(NewFork(RunId("r"), 1), run_row(journal.run.state.head, None), [], FORK, 50)
    assert refused.value.remedy == "fork its root, root"
