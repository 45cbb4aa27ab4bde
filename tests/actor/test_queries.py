"""What queries see of a commit: gates, usage, typed state and snapshots."""

import msgspec
import pytest

from jeton.actor.advance import advance
from jeton.actor.queries import UNCHANGED, Queries, queries_of
from jeton.actor.queries.gates import open_gates
from jeton.actor.queries.snapshots import (
    NEVER,
    ON_COMPLETE,
    SnapshotPolicy,
    canonical,
    digest_of,
    snapshot_due,
    snapshot_policy,
    whole_sections,
)
from jeton.actor.queries.typed import BranchRow, Stretch, all_branch_rows
from jeton.actor.queries.usage import CreditsSpent, TokensSpent, usage_in
from jeton.actor.rows import GateRow
from jeton.actor.sections import encode_sections
from jeton.model import decision as d
from jeton.model import message as m
from jeton.model.definition.workflow import Foreach, GateTarget, Merge, Node, Synchronization, Transition
from jeton.model.entry import Entry
from jeton.model.ids import GroupId, RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.note import LogNote, TokensNote
from tests.actor.journal import WORK, Journal, done, program

RUN, T = RunId("r"), TokenId


def seen(journal: Journal, *batch: m.Message, policy: SnapshotPolicy = ON_COMPLETE, typed: bool = False) -> Queries:
    """What queries see of the next batch."""
    commit = advance(journal.program, journal.run, batch)
    assert commit.entry is not None
    encoded = encode_sections(journal.run.state, commit.touched)
    return queries_of(journal.run.state, commit.touched, commit.entry, policy, typed, encoded)


# gates

GATES = program(
    Transition("s", "ask", foreach=Foreach("input.items")), s=Node(), ask=Node(GateTarget("Sure?", approvals=2))
)


def gate(token: int, answers: int = 0) -> GateRow:
    return GateRow(RUN, T(token), "ask", f"root.ask.{token - 1}", "Sure?", 3, None, answers)


def test_gates_that_open_change_and_close() -> None:
    journal = Journal(GATES)
    opened = seen(journal, m.StartRun(3, {"items": [1, 2]}))
    paths = [row.path for row in opened.gates]
    assert [msgspec.structs.replace(row, path="") for row in opened.gates] == [
        msgspec.structs.replace(gate(token), path="") for token in (1, 2)
    ]
    assert open_gates(journal.run.state) == list(opened.gates)
    changed = seen(journal, m.AnswerGate(4, "a", "yes", "Ann", T(2)))
    assert [(row.token, row.path, row.answers) for row in changed.gates] == [(2, paths[1], 1)]
    assert changed.closed_gates == ()
    closed = seen(journal, m.AnswerGate(5, "b", "yes", "Bob", T(2)))
    assert (closed.gates, closed.closed_gates) == ((), (T(2),))
    assert [row.token for row in open_gates(journal.run.state)] == [1]
    over = seen(journal, m.CancelRun(6, "enough"))
    assert (over.gates, over.closed_gates) == ((), (T(1),))


# usage


@pytest.mark.parametrize(
    ("decision", "credits", "tokens"),
    [
        pytest.param(
            d.ReserveCredits(T(1), "n", 5), (CreditsSpent("n", "2023-11-15", 5, 0),), (), id="what a node reserves"
        ),
        pytest.param(
            d.SettleCredits(T(1), "n", 3, 2, 0),
            (CreditsSpent("n", "2023-11-15", -2, 0),),
            (),
            id="what it did not use comes back",
        ),
        pytest.param(
            d.SettleCredits(T(1), "n", 9, 0, 4),
            (CreditsSpent("n", "2023-11-15", 0, 4),),
            (),
            id="what nobody paid for is a shortfall",
        ),
        pytest.param(
            d.NoteTask(T(1), "n", 1, TokensNote("s", "fast", 10, 20)),
            (),
            (TokensSpent("n", "2023-11-15", "fast", 10, 20),),
            id="tokens of a model",
        ),
        pytest.param(d.NoteTask(T(1), "n", 1, LogNote("s", "log", "x")), (), (), id="other notes cost nothing"),
    ],
)
def test_usage(decision: d.Decision, credits: tuple[CreditsSpent, ...], tokens: tuple[TokensSpent, ...]) -> None:
    noon = 1_700_049_600_000  # in UTC, on whichever day it is elsewhere
    entry = Entry(0, 0, (m.ContinueRun(noon),), (decision,))
    assert usage_in(entry) == (credits, tokens)


# typed state and branches

MERGED = program(
    Transition("s", "w", foreach=Foreach("input.items"), sibling_group="g"),
    Transition("w", "end", synchronization=Synchronization(merge=Merge("state.out"))),
    s=Node(output_mapping={"state.begun": "true", "output.n": "1"}),
    w=WORK,
    end=Node(),
)
G = GroupId(0)


def test_typed_state_is_what_a_commit_wrote_and_branches_are_whole_stretches() -> None:
    journal = Journal(MERGED)
    begun = seen(journal, m.StartRun(0, {"items": [1, 2]}), typed=True)
    assert begun.state == {"begun": True}
    first = seen(journal, done(1, 10), typed=True)
    arrived = BranchRow(G, 0, "arrived", '{"v":10}')
    assert (first.state, first.branches) == ({}, (Stretch(G, 0, (arrived,)),))
    assert all_branch_rows(journal.run.state) == [arrived]
    merged = seen(journal, done(2, 20), typed=True)
    assert merged.state == {"out": [{"v": 10}, {"v": 20}]}
    assert merged.branches == (Stretch(G, 0, ()),), "merged, and gone"


def test_a_workflow_without_a_state_schema_has_none_of_it() -> None:
    journal = Journal(MERGED)
    assert seen(journal, m.StartRun(0, {"items": [1, 2]})) == UNCHANGED


# snapshots


@pytest.mark.parametrize(
    ("said", "policy"),
    [
        pytest.param({}, ON_COMPLETE, id="at the end, unless it is said otherwise"),
        pytest.param({"snapshot_policy": "on_complete"}, ON_COMPLETE, id="or if it is said"),
        pytest.param({"snapshot_policy": "never"}, NEVER, id="never"),
        pytest.param({"snapshot_policy": {"every_n_entries": 3}}, SnapshotPolicy(3), id="after so many entries"),
        pytest.param({"snapshot_policy": {"every_n_entries": 0}}, ON_COMPLETE, id="zero is no number of entries"),
        pytest.param({"snapshot_policy": {"every_n_entries": True}}, ON_COMPLETE, id="nor is true"),
    ],
)
def test_the_policy(said: JsonObject, policy: SnapshotPolicy) -> None:
    assert snapshot_policy(said) == policy


@pytest.mark.parametrize(
    ("policy", "due"),
    [
        pytest.param(NEVER, [], id="never"),
        pytest.param(ON_COMPLETE, ["end"], id="at the end"),
        pytest.param(SnapshotPolicy(2), [1, 3, "end"], id="after every second, and at the end"),
    ],
)
def test_when_a_snapshot_is_due(policy: SnapshotPolicy, due: list[Json]) -> None:
    found: list[Json] = [number for number in range(4) if snapshot_due(policy, number, ended=False)]
    assert found + (["end"] if snapshot_due(policy, 4, ended=True) else []) == due


def test_a_snapshot_of_a_run_under_way_has_its_sections_and_one_of_its_end_only_their_digest() -> None:
    journal, policy = Journal(program(a=WORK)), SnapshotPolicy(1)
    under_way = seen(journal, m.StartRun(0, {}), policy=policy).snapshot
    assert under_way is not None
    whole = whole_sections(journal.run.state)
    assert (under_way.sections, under_way.digest) == (whole, digest_of(whole))
    assert not under_way.only
    end = seen(journal, done(0), policy=policy).snapshot
    assert end is not None
    assert (end.sections, end.digest) == (None, digest_of(whole_sections(journal.run.state)))
    assert seen(Journal(program(a=Node())), m.StartRun(0, {})).snapshot is not None


def test_a_digest_is_of_the_values_and_not_of_how_they_are_written() -> None:
    digest = digest_of({"a": b'{"x": 1, "y": 2}', "b": b"3"})
    assert digest == digest_of({"b": b"3", "a": b'{"y":2,"x":1}'})
    others = [
        {"a": b'{"x": 1.0, "y": 2}', "b": b"3"},
        {"a": b'{"x": 1, "y": 2}'},
        {"a": b"3", "b": b'{"x": 1, "y": 2}'},
    ]
    assert digest not in {digest_of(other) for other in others}
    assert canonical(b"[1, 1.0]") == b"[1,1.0]"


def test_the_digest_of_an_end_covers_what_earlier_commits_wrote() -> None:
    first = Node(WORK.target, output_mapping={"state.b": "result.v", "state.a": "{'y': 1, 'x': [2]}", "output.o": "3"})
    journal = Journal(program(Transition("a", "b"), a=first, b=WORK))
    journal.tell(m.StartRun(0, {"given": [1, 2.5]}))
    journal.tell(done(0))
    end = seen(journal, done(1)).snapshot
    assert end is not None
    whole = whole_sections(journal.run.state)
    assert [*whole] == ["head", "input", "output/o", "state/a", "state/b", "state/v"]
    assert end.digest == digest_of(whole)
