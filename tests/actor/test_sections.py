"""Sections of every version are read: a run stored by an earlier one goes on."""

import msgspec

from jeton.actor.queries.snapshots import canonical, whole_sections
from jeton.actor.sections import current_form, encode_sections
from jeton.model.decision import IgnoreLate, WakeToken
from jeton.model.definition.workflow import Node
from jeton.model.effect import StartTask
from jeton.model.ids import TokenId
from jeton.model.message import AlarmRang, Message, StartRun, TaskFinished, TaskStarted, TaskSuspended
from tests.actor.journal import WORK, Journal, program

TOKEN = {"id": 0, "node": "a", "path": "root", "slept": "nap"}
ASLEEP = {**TOKEN, "phase": {"type": "waiting_for_timer", "since": 20, "due": 30, "label": "nap", "asleep": True}}
AWAKE = {**TOKEN, "phase": {"type": "executing", "since": 31, "deadline": 1031, "deliveries": 1}, "woken": 30}
FALLS_ASLEEP = (StartRun(10, {}), TaskSuspended(20, TokenId(0), 1, 30, "nap"))
WAKES_UP = (AlarmRang(30), TaskStarted(31, TokenId(0), 1))


def stored_as(token: object, *messages: Message) -> Journal:
    """A run after these messages, with its token as an earlier version stored it."""
    journal = Journal(program(a=WORK))
    for message in messages:
        journal.tell(message)
    journal.sections["tokens/0"] = msgspec.json.encode([token])
    journal.reload()
    return journal


def test_a_task_that_an_earlier_version_stored_asleep_is_woken_at_its_time() -> None:
    journal = stored_as(ASLEEP, *FALLS_ASLEEP)
    assert journal.run.timers.next_due() == 30
    assert journal.run.state.tokens[TokenId(0)].last_sleep == "nap"
    commit = journal.tell(AlarmRang(30))
    assert commit.entry is not None
    assert isinstance(commit.entry.decisions[0], WakeToken)
    assert [effect.attempt for effect in commit.effects if isinstance(effect, StartTask)] == [1]


def test_a_task_that_an_earlier_version_stored_awake_does_not_sleep_the_same_sleep_again() -> None:
    journal = stored_as(AWAKE, *FALLS_ASLEEP, *WAKES_UP)
    assert journal.run.state.tokens[TokenId(0)].last_sleep == "nap"
    commit = journal.tell(TaskSuspended(40, TokenId(0), 1, 30, "nap"))
    assert commit.entry is not None
    assert commit.entry.decisions == (IgnoreLate(TokenId(0), 1, "that sleep is over"),)


def test_a_section_of_an_earlier_version_has_one_form_as_this_version_writes_it() -> None:
    for journal in (stored_as(ASLEEP, *FALLS_ASLEEP), stored_as(AWAKE, *FALLS_ASLEEP, *WAKES_UP)):
        written = whole_sections(journal.run.state)["tokens/0"]
        assert canonical(current_form("tokens/0", journal.sections["tokens/0"])) == canonical(written)
        assert current_form("tokens/0", written) == written


def test_the_sections_of_a_commit_are_in_the_order_of_their_names() -> None:
    keys = {f"state.{key}": "result.v" for key in "dbca"} | {f"output.{key}": "1" for key in "fe"}
    journal = Journal(program(a=Node(WORK.target, output_mapping={**keys})))
    turns = [journal.tell(StartRun(10, {})), journal.tell(TaskFinished(20, TokenId(0), 1, {"v": 1}))]
    for commit in turns:
        sections = [*encode_sections(journal.run.state, commit.touched)]
        assert sections == sorted(sections)
    assert len(encode_sections(journal.run.state, turns[1].touched)) == 8
