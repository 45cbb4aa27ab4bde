"""Decisions about forks."""

from typing import TypeAlias

from jeton.model.decision.base import DecisionBase
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json

DONE_AGAIN = "its node is done again"
"""Why a token of the shared history does not go on in a retry."""


class ForkHistory(DecisionBase, frozen=True, tag="fork_history"):
    """Continue another run's history as this run's own. `shift` is the time between the two runs, in milliseconds.

    `dropped`: tokens that do not go on, because their nodes are done again."""

    at: int
    run: RunId
    entry: int
    shift: int
    deadline: int | None = None
    writes: dict[str, Json] = {}
    credits: int = 0
    dropped: tuple[TokenId, ...] = ()
    turn: int | None = None  # of a conversation: the first turn that is not shared


ForkDecision: TypeAlias = ForkHistory
