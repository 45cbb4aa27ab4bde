"""Decisions about forks."""

from typing import TypeAlias

from jeton.model.decision.base import DecisionBase
from jeton.model.ids import RunId
from jeton.model.json import Json


class ForkHistory(DecisionBase, frozen=True, tag="fork_history"):
    """What was another run's history up to here goes on as this run's own; `shift` is how long time stood still."""

    at: int
    run: RunId
    entry: int
    shift: int
    deadline: int | None = None
    writes: dict[str, Json] = {}
    credits: int = 0


ForkDecision: TypeAlias = ForkHistory
