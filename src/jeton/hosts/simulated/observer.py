"""Observers of the simulated host, for tests."""

from collections.abc import Mapping
from typing import Protocol

import msgspec

from jeton.actor.advance import Commit, LiveRun
from jeton.actor.queries.snapshots import SnapshotPolicy
from jeton.actor.turn import Turn
from jeton.model.effect import Effect
from jeton.model.ids import RunId
from jeton.model.message import Message
from jeton.planning.program.workflow import Program


class Step(msgspec.Struct, frozen=True):
    """One committed batch: what was stored before it, its messages, and its result."""

    run: RunId
    program: Program
    moves: int
    before: Mapping[str, bytes] | None
    before_hash: bytes
    policy: SnapshotPolicy
    batch: tuple[Message, ...]
    commit: Commit
    turn: Turn
    live: LiveRun


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
