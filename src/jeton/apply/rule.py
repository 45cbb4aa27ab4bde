"""The rule of a decision: how it changes a run, and which facts it makes true."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from jeton.apply.draft import Draft
from jeton.model.decision import Decision
from jeton.model.decision.base import DecisionBase
from jeton.model.event import Fact

_D = TypeVar("_D", bound=Decision)


class Rule(msgspec.Struct, frozen=True):
    """The rule of one kind of decision. `count` is the number of its facts, known without making them."""

    kind: type[DecisionBase]
    fold: Callable[[Draft, Any], None]
    facts: Callable[[Any], Iterable[Fact]]
    count: int | Callable[[Any], int]


def rule(
    kind: type[_D],
    fold: Callable[[Draft, _D], None],
    facts: Callable[[_D], Iterable[Fact]],
    count: int | Callable[[_D], int] = 1,
) -> Rule:
    """Make a rule whose functions take the kind of decision it is for."""
    return Rule(kind, fold, facts, count)


def no_change(_draft: Draft, _decision: Decision) -> None:
    """The fold of a decision that is only recorded."""


def no_facts(_decision: Decision) -> tuple[Fact, ...]:
    """The facts of a decision that is internal bookkeeping."""
    return ()
