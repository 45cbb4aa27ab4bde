"""One commit, as a host shows it to the invariants, and how they say no."""

from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn

import msgspec

from jeton.actor.advance import LiveRun
from jeton.actor.turn import Turn
from jeton.model import decision as d
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


def named_in(*functions: Callable[..., Any]) -> frozenset[type]:
    """The kinds of decisions that functions name: of the others, which are most, they need not be told."""
    found: set[type] = set()
    for function in functions:
        assert isinstance(function, FunctionType)
        kinds = [getattr(d, name, None) for name in function.__code__.co_names]
        found.update(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, msgspec.Struct))
    return frozenset(found)
