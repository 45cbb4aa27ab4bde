"""Decisions about forks."""

from typing import TypeAlias

from jeton.model.decision.base import DecisionBase
from jeton.model.ids import RunId
from jeton.model.json import Json


class ForkHistory(DecisionBase, frozen=True, tag="fork_history"):
    """Continue another run's history as this run's own. `shift` is the time between the two runs, in milliseconds."""

    at: int
    run: RunId
    entry: int
    shift: int
    deadline: int | None = None
    writes: dict[str, Json] = {}
    credits: int = 0


ForkDecision: TypeAlias = ForkHistory
