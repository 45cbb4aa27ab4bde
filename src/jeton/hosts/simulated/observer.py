"""Whoever wants to look over the host's shoulder: tests, mostly."""

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
    """One batch on its road: what was stored before it, what it was, and what came of it."""

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
    """Told of each step once it is durable, and of each effect as it leaves. May raise; nobody catches it."""

    looks_back: bool  # whether it wants to see what was stored before each step, which costs a copy of it

    def committed(self, step: Step) -> None: ...

    def released(self, run: RunId, effect: Effect) -> None: ...


class Nobody:
    """Looks away."""

    looks_back: bool = False

    def committed(self, step: Step) -> None:
        pass

    def released(self, run: RunId, effect: Effect) -> None:
        pass
