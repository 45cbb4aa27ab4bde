"""Observers of the simulated host, for tests."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from jeton.actor.advance import LiveRun
from jeton.actor.journal import JournalEntry
from jeton.actor.queries.snapshots import SnapshotPolicy
from jeton.actor.turn import Turn, take_turn
from jeton.hosts.simulated.memory.loading import load_stored
from jeton.model.effect import Effect
from jeton.model.entry import Entry
from jeton.model.ids import RunId
from jeton.model.message import Message
from jeton.planning.program.workflow import Program


class Step(msgspec.Struct, frozen=True):
    """One committed batch: what was stored before it, its messages, and its turn."""

    run: RunId
    program: Program
    batch: tuple[Message, ...]
    turn: Turn
    entry: Entry | None  # the turn's, decoded
    live: LiveRun  # after the turn
    before: Mapping[str, bytes] | None  # the sections; None for a run without a commit, or if nobody looks back
    before_hash: bytes
    shared: tuple[JournalEntry, ...]  # the history that a fork's first turn stores
    policy: SnapshotPolicy
    moves: int

    def repeated(self) -> Turn:
        """The turn of the same batch on what was stored before it. It must be the same turn."""
        return take_turn(
            self.program,
            self._loaded(),
            self.batch,
            self.before_hash,
            self._loaded,
            policy=self.policy,
            shared=self.shared,
            moves=self.moves,
        ).turn

    def _loaded(self) -> LiveRun:
        head = self.turn.head
        return load_stored(head.run, head.workflow, head.version, self.before, self.shared)


class Observer(Protocol):
    """Called for each step once it is durable, and for each effect when it is released. Exceptions propagate."""

    looks_back: bool  # whether steps have `before`, which costs a copy

    def committed(self, step: Step) -> None: ...

    def released(self, run: RunId, effect: Effect) -> None: ...


class Nobody:
    """An observer that does nothing."""

    looks_back: bool = False

    def committed(self, step: Step) -> None:
        pass

    def released(self, run: RunId, effect: Effect) -> None:
        pass
