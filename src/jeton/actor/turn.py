"""One batch of one run: advance it, and give one plain, ordered, serialisable value that a host commits.

The same batch gives the same turn, byte for byte and in the same order, in every process.
"""

from collections.abc import Callable, Sequence

import msgspec

from jeton.actor.advance import MOVES_PER_BATCH, Commit, LiveRun, advance, give_up
from jeton.actor.journal import JournalEntry, next_hash
from jeton.actor.queries import UNCHANGED, Queries, queries_of
from jeton.actor.queries.snapshots import ON_COMPLETE, SnapshotPolicy
from jeton.actor.rows import RunRow, run_row
from jeton.actor.sections import Sections, encode_sections
from jeton.actor.storable import storable
from jeton.model.effect import Effect, SendMessage
from jeton.model.message import Message
from jeton.model.state.run import Head
from jeton.planning.program.workflow import Program

_encode_entry = msgspec.json.Encoder().encode


class Turn(msgspec.Struct, frozen=True):
    """All that a host commits for a batch, all or nothing, and the effects it releases afterwards.

    `head` is the run's own, and changes with the run's next batch: a host commits a turn before it takes another."""

    head: Head
    entry: JournalEntry | None  # None: the batch changed nothing, and only the alarm may differ
    hash: bytes  # of the last entry
    sections: Sections  # those that changed, by name
    queries: Queries
    effects: tuple[Effect, ...]
    wake: int | None  # the time of the run's alarm
    again: bool  # the limit of moves was reached: the run needs another batch
    ended: bool
    shared: tuple[JournalEntry, ...] = ()  # entries that a fork shares with another run, stored with its first turn

    @property
    def row(self) -> RunRow:
        """The run as lists show it. Not made in advance, because most turns do not need it."""
        return run_row(self.head, self.wake)

    @property
    def first(self) -> bool:
        """Whether nothing of the run is stored yet."""
        return self.entry is not None and (self.entry.number == 0 or bool(self.shared))

    @property
    def shown(self) -> bool:
        """Whether queries see anything new beside the run's row. Most turns change nothing for them."""
        return self.queries is not UNCHANGED or self.ended or self.first

    @property
    def messages(self) -> list[SendMessage]:
        """Messages to other actors. They are part of the commit."""
        return [effect for effect in self.effects if type(effect) is SendMessage]


def turn_of(
    program: Program,
    run: LiveRun,
    commit: Commit,
    before: bytes,
    policy: SnapshotPolicy = ON_COMPLETE,
    shared: tuple[JournalEntry, ...] = (),
) -> Turn:
    """The turn of a commit. `before` is the hash of the entry before it. Raises if something in it is not JSON."""
    entry, state = commit.entry, run.state
    if entry is None:
        return Turn(
            state.head, None, before, {}, UNCHANGED, commit.effects, commit.wake, commit.again, commit.ended, shared
        )
    if shared:
        commit.touched.everything(state)
    body = _encode_entry(entry)
    hash = next_hash(before, body)
    touched, typed = commit.touched, program.workflow.state_schema is not None
    sections = encode_sections(state, touched)
    if commit.ended or policy.every or typed or touched.more or touched.usage:
        queries = queries_of(state, touched, entry, policy, typed, sections)
    else:
        queries = UNCHANGED  # as most often
    return Turn(
        state.head,
        JournalEntry(entry.number, hash, body),
        hash,
        sections,
        queries,
        commit.effects,
        commit.wake,
        commit.again,
        commit.ended,
        shared,
    )


class Taken(msgspec.Struct):
    """A turn, the run as it is after it, and the messages that were left out because they cannot be stored."""

    turn: Turn
    run: LiveRun
    refused: tuple[Message, ...] = ()
    problem: str = ""


def take_turn(
    program: Program,
    run: LiveRun,
    batch: Sequence[Message],
    before: bytes,
    reload: Callable[[], LiveRun],
    policy: SnapshotPolicy = ON_COMPLETE,
    shared: tuple[JournalEntry, ...] = (),
    moves: int = MOVES_PER_BATCH,
) -> Taken:
    """Handle a batch.

    If what it leads to is not JSON, the run is loaded again and the messages at fault are left out; if every message is
    sound, the run ends failed with the evidence. Either way the run is not blocked."""
    try:
        commit = advance(program, run, batch, moves)
    except Exception as problem:
        if _repaired(batch) == list(batch):
            raise  # the values are not at fault: the host keeps the run as it is stored, and says that it is damaged
        return _take_storable(program, batch, before, reload, policy, shared, moves, problem)
    try:
        return Taken(turn_of(program, run, commit, before, policy, shared), run)
    except Exception as problem:  # a value may be anything, and so may what it raises
        return _take_storable(program, batch, before, reload, policy, shared, moves, problem)


def _repaired(batch: Sequence[Message]) -> list[Message | None]:
    """The messages as they can be stored; None for one that has nothing to store."""
    return [storable(message) for message in batch]


def _take_storable(
    program: Program,
    batch: Sequence[Message],
    before: bytes,
    reload: Callable[[], LiveRun],
    policy: SnapshotPolicy,
    shared: tuple[JournalEntry, ...],
    moves: int,
    problem: Exception,
) -> Taken:
    repaired = _repaired(batch)
    kept = [message for message in repaired if message is not None]
    refused = tuple(message for message, sound in zip(batch, repaired, strict=True) if sound is None)
    run = reload()
    if kept != list(batch):
        try:
            turn = turn_of(program, run, advance(program, run, kept, moves), before, policy, shared)
            return Taken(turn, run, refused, str(problem))
        except Exception as again:
            problem, run = again, reload()
    turn = turn_of(program, run, give_up(run, kept or batch, problem), before, policy, shared)
    return Taken(turn, run, refused, str(problem))
