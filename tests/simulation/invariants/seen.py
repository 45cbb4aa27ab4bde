"""One commit, as a host shows it to the invariants, and how they say no."""

from typing import NoReturn

import msgspec

from jeton.actor.advance import LiveRun
from jeton.actor.turn import Turn
from jeton.model.effect import Effect
from jeton.model.entry import Entry
from jeton.planning.program.workflow import Program


class Broken(AssertionError):
    """An invariant does not hold."""


def broken(what: str) -> NoReturn:
    raise Broken(what)


class Seen(msgspec.Struct, frozen=True):
    """What was stored, the entry read back from it, and the run in memory."""

    program: Program
    turn: Turn
    entry: Entry
    run: LiveRun
    effects: tuple[Effect, ...] | None = None  # None: the host does not show them
