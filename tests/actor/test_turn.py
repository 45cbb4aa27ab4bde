"""One batch, one plain value: its order, its parts, and what happens to values that cannot be stored."""

import msgspec
import pytest

from jeton.actor.advance import LiveRun
from jeton.actor.journal import decode_entry, first_hash, next_hash
from jeton.actor.queries import UNCHANGED
from jeton.actor.sections import Sections, encode_sections, load_run
from jeton.actor.starts import NewFork, fresh_run, plan_fork
from jeton.actor.turn import Taken, take_turn
from jeton.apply.draft import Touched
from jeton.model import message as m
from jeton.model.definition.workflow import Foreach, Node, Transition, WorkflowTarget
from jeton.model.effect import SendMessage, StartTask
from jeton.model.ids import RunId, TokenId
from jeton.model.state.run import RunState
from tests.actor.journal import WORK, Journal, done, program

RUN = RunId("r")
FAN = program(Transition("s", "w", foreach=Foreach("input.items")), s=Node(), w=WORK)
START = m.StartRun(0, {"items": [1, 2]})


def fresh() -> LiveRun:
    return fresh_run(RUN, "w", 1)


def taken(*batch: m.Message, journal: Journal | None = None, moves: int = 10_000) -> Taken:
    if journal is None:
        return take_turn(FAN, fresh(), batch, first_hash(RUN), fresh, moves=moves)
    stored = journal.snapshot()
    return take_turn(FAN, journal.run, batch, journal.hash, lambda: load_run(stored), moves=moves)


@pytest.fixture
def begun() -> Journal:
    journal = Journal(FAN)
    journal.tell(START)
    return journal


def test_a_turn_has_all_that_a_host_commits() -> None:
    turn = taken(START).turn
    assert turn.entry is not None
    assert turn.entry.number == 0
    assert turn.hash == turn.entry.hash == next_hash(first_hash(RUN), turn.entry.body)
    assert [effect.token for effect in turn.effects if isinstance(effect, StartTask)] == [1, 2]
    assert (turn.first, turn.again, turn.ended, turn.messages) == (True, False, False, [])
    assert turn.row.status == "running"
    assert list(turn.sections) == sorted(turn.sections)


def test_the_same_batch_gives_the_same_bytes() -> None:
    assert msgspec.json.encode(taken(START).turn) == msgspec.json.encode(taken(START).turn)


def test_a_batch_that_changes_nothing_stores_nothing(begun: Journal) -> None:
    taken(done(1), done(2), journal=begun)
    turn = taken(done(1), journal=begun).turn
    assert (turn.entry, turn.sections, turn.queries, turn.effects) == (None, {}, UNCHANGED, ())
    assert turn.hash == begun.hash
    assert not turn.first


def test_the_bound_on_moves_makes_the_run_send_itself_a_message() -> None:
    assert taken(START, moves=2).turn.again


def test_messages_to_other_actors_are_part_of_the_turn() -> None:
    calls = program(a=Node(WorkflowTarget("c")))
    turn = take_turn(calls, fresh(), [m.StartRun(0, {})], first_hash(RUN), fresh).turn
    assert [type(sent.message) for sent in turn.messages] == [m.StartRun]
    assert all(isinstance(effect, SendMessage) for effect in turn.messages)


def test_a_fork_stores_the_history_it_shares_with_its_first_turn(begun: Journal) -> None:
    entries = [decode_entry(body) for body in begun.entries]
    row = taken(journal=begun).turn.row
    planned = plan_fork(NewFork(RUN, 0), row, entries, RunId("fork"), 9)
    shared = planned.shared
    turn = take_turn(FAN, planned.live, [planned.message], shared[-1].hash, fresh, shared=shared).turn
    assert turn.shared == shared
    assert turn.entry is not None
    assert (turn.entry.number, turn.first) == (1, True)
    assert {"input", "tokens/0"} <= set(turn.sections)


# values that cannot be stored

BAD_RESULT = m.TaskFinished(5, TokenId(1), 1, {"v": object()})  # type: ignore[dict-item]
BAD_SIGNAL = m.SignalRun(5, "id", "go", object())  # type: ignore[arg-type]


def test_a_result_that_is_no_json_is_a_failure_of_its_task(begun: Journal) -> None:
    found = taken(BAD_RESULT, journal=begun)
    assert found.refused == ()
    assert found.run is not begun.run, "what was planned on top of the stored state is gone"
    assert found.run.state.head.error is not None
    assert found.run.state.head.error.type == "bad_result"


def test_a_message_that_cannot_be_stored_is_left_out_and_the_others_count(begun: Journal) -> None:
    found = taken(BAD_SIGNAL, done(1), journal=begun)
    assert found.refused == (BAD_SIGNAL,)
    assert "object" in found.problem
    assert found.turn.entry is not None
    assert decode_entry(found.turn.entry.body).messages == (done(1),)
    assert list(found.run.state.tokens) == [TokenId(2)]


def test_a_batch_of_nothing_else_ends_no_run(begun: Journal) -> None:
    found = taken(BAD_SIGNAL, journal=begun)
    assert (found.refused, found.turn.entry, found.turn.ended) == ((BAD_SIGNAL,), None, False)


@pytest.mark.parametrize("batch", [(START,), (START, done(1))], ids=["the first batch", "with other messages"])
def test_a_run_whose_every_message_is_sound_and_whose_turn_is_not_ends_with_the_evidence(
    batch: tuple[m.Message, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails_until_the_end(state: RunState, touched: Touched) -> Sections:
        if state.head.error is None:
            raise ZeroDivisionError("nobody saw this coming")
        return encode_sections(state, touched)

    monkeypatch.setattr("jeton.actor.turn.encode_sections", fails_until_the_end)
    found = taken(*batch)
    error = found.run.state.head.error
    assert found.turn.ended
    assert error is not None
    assert (error.type, "nobody saw this coming" in error.message) == ("cannot_be_stored", True)
    assert found.refused == ()


def test_a_bug_while_advancing_leaves_the_run_as_it_is_stored(begun: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr("jeton.actor.turn.advance", fails)
    with pytest.raises(ZeroDivisionError):
        taken(done(1), journal=begun)
