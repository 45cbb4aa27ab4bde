"""The road of a batch, seen from outside the core: laws 7 and 8, all or none, and the bound on what moves by itself."""

from functools import partial

import msgspec
import pytest

from jeton.actor.advance import advance
from jeton.actor.journal import decode_entry
from jeton.actor.replay import replay
from jeton.actor.sections import encode_sections, load_run
from jeton.apply.draft import Draft
from jeton.apply.fold import fold
from jeton.apply.record import count_events, events_of
from jeton.model import message as m
from jeton.model.decision import Decision, RouteToken, SettleSlot
from jeton.model.definition.workflow import (
    Foreach,
    Merge,
    Node,
    Synchronization,
    Transition,
)
from jeton.model.effect import StartTask, StopTask
from jeton.model.event import TaskLog, TaskMissing, TaskProgress
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.ids import GroupId, RunId, TokenId
from jeton.model.note import LogNote, MissingNote, Note, ProgressNote
from jeton.model.state.phase import Dispatched, Executing
from jeton.planning.tokens.node import Plan
from tests.actor.journal import WORK, Journal, done, program

T = TokenId

FAN = program(
    Transition("s", "w", foreach=Foreach("input.items"), sibling_group="g"),
    Transition("w", "end", synchronization=Synchronization(merge=Merge("state.out"))),
    s=Node(),
    w=WORK,
    end=Node(output_mapping={"output.out": "state.out"}),
)


@pytest.fixture
def fan() -> Journal:
    journal = Journal(FAN)
    journal.tell(m.StartRun(0, {"items": [1, 2, 3]}))
    return journal


def test_a_run_reloaded_after_every_batch_ends_like_one_that_was_not(fan: Journal) -> None:
    for token in (3, 1, 2):
        fan.reload()
        fan.tell(done(token, token * 10))
    assert fan.run.state.output == {"out": [{"v": 10}, {"v": 20}, {"v": 30}]}
    assert fan.run.state.head.status == "completed"


def test_law_7_replaying_a_batch_on_the_stored_state_gives_the_same_commit(fan: Journal) -> None:
    before = fan.snapshot()
    again = load_run(before)
    first = fan.tell(done(2), done(1))
    second = advance(FAN, again, [done(2), done(1)])
    assert (first.entry, first.effects, first.wake) == (second.entry, second.effects, second.wake)
    assert encode_sections(again.state, second.touched) == encode_sections(fan.run.state, first.touched)


def test_law_8_after_the_outcome_messages_are_no_ops(fan: Journal) -> None:
    fan.tell(m.CancelRun(9, "enough"))
    after = fan.snapshot()
    for late in (done(1), m.CancelRun(10, "again"), m.AlarmRang(99), m.StartRun(11, {}), m.ContinueRun(12)):
        assert fan.tell(late).entry is None
    assert fan.snapshot() == after
    assert fan.run.state.head.error is not None
    assert fan.run.state.head.error.message == "enough"


def test_the_journal_folds_to_the_stored_state(fan: Journal) -> None:
    fan.tell(done(2))
    fan.tell(done(2), m.TaskFinished(6, T(1), 1, failure=TaskFailed("boom", "no")))
    folded = replay(fan.run.state.head, [decode_entry(body) for body in fan.entries])
    assert folded.state.head == fan.run.state.head
    assert folded.state.output == fan.run.state.output


def test_events_are_numbered_without_holes_and_the_counter_agrees(fan: Journal) -> None:
    for token in (1, 2, 3):
        fan.tell(done(token))
    entries = [decode_entry(body) for body in fan.entries]
    events = [event for entry in entries for event in events_of(RunId("r"), entry)]
    assert [event.seq for event in events] == list(range(fan.run.state.head.events))
    assert sum(count_events(entry.decisions) for entry in entries) == len(events)


def test_a_result_counts_once(fan: Journal) -> None:
    fan.tell(done(1, 10))
    second = fan.tell(done(1, 99))
    assert second.entry is not None
    assert [msgspec.to_builtins(d)["do"] for d in second.entry.decisions] == ["ignore_late"]


def test_a_result_of_another_attempt_is_ignored(fan: Journal) -> None:
    fan.tell(done(1, 10, attempt=2))
    assert T(1) in fan.run.state.tokens


def test_t20_executing_follows_dispatched_and_nothing_else(fan: Journal) -> None:
    fan.tell(m.TaskStarted(3, T(1), 1), m.TaskStarted(4, T(1), 1), m.TaskStarted(4, T(77), 1))
    assert fan.run.state.tokens[T(1)].phase == Executing(3, 1003)


def test_what_a_task_says_of_itself_becomes_events_while_it_is_under_way(fan: Journal) -> None:
    notes: list[Note] = [
        ProgressNote("s", 0.4, "halfway"),
        LogNote("s", "stdout", "hi"),
        MissingNote("s", ("input.a",)),
    ]
    old_news = (m.TaskNoted(3, T(77), 1, notes[0]), m.TaskNoted(3, T(1), 2, notes[0]))
    told = [m.TaskNoted(3, T(1), 1, note) for note in notes]
    commit = fan.tell(*told, *old_news, done(1, 10), told[0])
    assert commit.entry is not None
    facts = [event.fact for event in events_of(RunId("r"), commit.entry)]
    node = fan.run.state.tokens[T(2)].node
    assert facts[:3] == [
        TaskProgress(T(1), node, 1, "s", 0.4, "halfway"),
        TaskLog(T(1), node, 1, "s", "stdout", "hi"),
        TaskMissing(T(1), node, 1, "s", ("input.a",)),
    ]
    assert len([fact for fact in facts if isinstance(fact, TaskProgress)]) == 1
    assert count_events(commit.entry.decisions) == len(facts)
    assert [type(message) for message in commit.entry.messages] == [m.TaskFinished], "the decisions have the notes"


def test_a_task_timeout_counts_from_its_start_and_ends_the_token_timed_out(fan: Journal) -> None:
    fan.tell(m.TaskStarted(500, T(1), 1))
    early = fan.tell(m.AlarmRang(1200))
    assert not early.ended, "two never began: they are asked after again, and the one that did has time left"
    late = fan.tell(m.TaskStarted(1300, T(2), 1), m.TaskStarted(1300, T(3), 1), m.AlarmRang(1500))
    assert late.ended
    assert fan.run.state.head.error is not None
    assert fan.run.state.head.error.type == "timed_out"
    assert StopTask(T(1), 1) in late.effects


def test_a_lost_task_is_delivered_again_and_the_fifth_loss_fails_the_node(fan: Journal) -> None:
    for delivery in (2, 3, 4, 5):
        again = fan.tell(m.TaskLost(7, T(1), 1))
        assert again.effects == (StartTask(T(1), "w", 1, delivery, {"items": [1, 2, 3]}, 7, fan.run.state.facts),)
    assert fan.tell(m.TaskLost(8, T(1), 1)).ended
    assert fan.run.state.head.error is not None
    assert fan.run.state.head.error.type == "worker_lost"


def test_what_moves_by_itself_is_bounded_and_goes_on_in_a_message_to_itself() -> None:
    circle = program(
        Transition("a", "a", condition="state.n < 50"),
        Transition("a", "b", priority=2),
        a=Node(output_mapping={"state.n": "has(state.n) ? state.n + 1 : 1"}),
        b=Node(),
    )
    journal = Journal(circle)
    commit = journal.tell(m.StartRun(0, {}), moves=10)
    batches = 1
    while commit.again:
        journal.reload()
        commit = journal.tell(m.ContinueRun(0), moves=10)
        batches += 1
    assert journal.run.state.head.status == "completed"
    assert journal.run.state.state["n"] == 50
    assert batches == 6


def test_a_message_that_breaks_an_invariant_ends_the_run_with_the_evidence(
    fan: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    impossible: list[Decision] = [RouteToken(T(2), "w", "completed"), SettleSlot((GroupId(7), 0), 5)]
    monkeypatch.setattr("jeton.actor.advance.plan_run", partial(_planned, impossible))
    commit = fan.tell(done(1))
    head = fan.run.state.head
    assert commit.ended
    assert head.status == "failed"
    assert head.error is not None
    assert head.error.type == "broken_invariant"
    assert head.alive == 0
    folded = replay(head, [decode_entry(body) for body in fan.entries])
    assert folded.state.head == head


def test_a_rolled_back_message_leaves_every_table_as_it_was(fan: Journal) -> None:
    fan.tell(done(1))
    state = fan.run.state
    before = {
        name: dict(getattr(state, name)) for name in ("tokens", "slots", "arrived", "groups", "progress", "state")
    }
    head = msgspec.structs.replace(state.head)
    draft = Draft(state, fan.run.timers)
    mark = draft.begin(0)
    fold(draft, RouteToken(T(2), "w", "failed"))
    with pytest.raises(BrokenInvariant):
        fold(draft, RouteToken(T(2), "w", "failed"))
    draft.roll_back(mark)
    assert {name: dict(getattr(state, name)) for name in before} == before
    assert state.head == head


def test_a_queued_task_is_not_called_late() -> None:
    journal = Journal(program(a=WORK))
    journal.tell(m.StartRun(0, {}))
    again = journal.tell(m.AlarmRang(1000))
    assert not again.ended
    assert again.wake == 2000
    assert isinstance(journal.run.state.tokens[T(0)].phase, Dispatched)


def _planned(decisions: list[Decision], *_: object) -> Plan:
    return Plan(decisions)
