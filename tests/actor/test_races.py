"""Things that happen at the same moment, too late, or on the other side of a restart."""

import pytest

from jeton.actor.advance import Commit
from jeton.apply.record import events_of
from jeton.model.codes import CustomFailure
from jeton.model.decision import DispatchToken, IgnoreLate, OpenFanIn
from jeton.model.definition.workflow import Foreach, Merge, MOfN, Node, Strategy, Synchronization, Transition
from jeton.model.effect import StopTask
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.message import AlarmRang, CancelRun, StartRun, TaskFinished
from jeton.planning.plan_run import plan_run
from tests.actor.journal import WORK, Journal, done, program

T = TokenId


def panel(strategy: Strategy, timeout_ms: int | None = None) -> Journal:
    """Three branches into one fan-in, all of them dispatched as tokens 1, 2 and 3."""
    sync = Synchronization(strategy, merge=Merge("state.out"), timeout_ms=timeout_ms)
    journal = Journal(
        program(
            Transition("s", "w", foreach=Foreach("input.items"), sibling_group="g"),
            Transition("w", "end", synchronization=sync),
            Transition("end", "last"),
            s=Node(),
            w=WORK,
            end=WORK,
            last=Node(),
        )
    )
    journal.tell(StartRun(0, {"items": [1, 2, 3]}))
    return journal


def opened(commit: Commit) -> int:
    assert commit.entry is not None
    return sum(isinstance(d, OpenFanIn) for d in commit.entry.decisions)


def test_r15_planning_twice_gives_equal_decisions_and_writes_nothing() -> None:
    journal = panel("all")
    before = journal.snapshot()
    first = plan_run(journal.program, journal.run.state, done(1))
    assert plan_run(journal.program, journal.run.state, done(1)) == first
    journal.reload()
    assert plan_run(journal.program, journal.run.state, done(1)) == first
    assert journal.snapshot() == before


def test_j12_a_late_result_for_a_cancelled_sibling_is_ignored_and_recorded() -> None:
    journal = panel("any")
    first = journal.tell(done(2))
    assert [e for e in first.effects if isinstance(e, StopTask)] == [StopTask(T(1), 1), StopTask(T(3), 1)]
    state = dict(journal.run.state.state)
    late = journal.tell(done(1, 99))
    assert late.entry is not None
    assert [type(d) for d in late.entry.decisions] == [IgnoreLate]
    assert journal.run.state.state == state
    assert [e.fact.__struct_config__.tag for e in events_of(RunId("r"), late.entry)] == ["late.ignored"]


def test_a_late_error_for_a_cancelled_sibling_fails_nothing() -> None:
    journal = panel("any")
    journal.tell(done(2))
    journal.tell(TaskFinished(6, T(1), 1, failure=TaskFailed(CustomFailure("boom"), "too late")))
    assert journal.run.state.head.status == "running"


@pytest.mark.parametrize("strategy", ["any", MOfN(2)], ids=["any", "two of three"])
def test_j14_results_at_the_same_moment_open_the_fan_in_once(strategy: Strategy) -> None:
    journal = panel(strategy)
    assert opened(journal.tell(done(1), done(2), done(3))) == 1
    assert len(journal.run.state.tokens) == 1


def test_j19_a_fan_in_timeout_survives_a_restart_before_it_is_due() -> None:
    journal = panel("all", timeout_ms=100)
    assert journal.tell(done(1, at=50)).wake == 150
    journal.reload()
    assert not journal.tell(AlarmRang(149)).ended, "never early"
    journal.reload()
    assert journal.tell(AlarmRang(150)).ended
    assert journal.run.state.head.error is not None
    assert journal.run.state.head.error.type == "fan_in_timed_out"


@pytest.mark.parametrize(
    ("batch", "status"),
    [
        pytest.param((done(4), CancelRun(6, "stop")), "completed", id="completion committed first wins"),
        pytest.param((CancelRun(6, "stop"), done(4)), "cancelled", id="cancel committed first wins"),
    ],
)
def test_c11_cancel_races_completion_and_the_first_is_for_ever(
    batch: tuple[TaskFinished | CancelRun, ...], status: str
) -> None:
    journal = panel("all")
    journal.tell(done(1), done(2), done(3))
    journal.tell(*batch)
    assert journal.run.state.head.status == status


def test_g04_cancelling_ends_every_token_and_keeps_the_reason() -> None:
    journal = panel("all")
    journal.tell(done(1))
    commit = journal.tell(CancelRun(9, "enough"))
    assert commit.ended
    assert {e.token for e in commit.effects if isinstance(e, StopTask)} == {2, 3}
    head = journal.run.state.head
    assert (head.status, head.alive, head.error and head.error.message) == ("cancelled", 0, "enough")
    assert journal.tell(CancelRun(10, "again")).entry is None


def test_paths_that_an_input_mapping_did_not_find_are_recorded() -> None:
    lacking = Node(WORK.target, {"x": "input.none"})
    commit = Journal(program(a=lacking)).tell(StartRun(0, {}))
    assert commit.entry is not None
    assert [d.missing for d in commit.entry.decisions if isinstance(d, DispatchToken)] == [("input.none",)]
