"""Facts about the run as a whole."""

from typing import TypeAlias

import msgspec

from jeton.model.codes import StoredRefusalCode
from jeton.model.event.base import FactBase
from jeton.model.failure import RunError
from jeton.model.ids import RunId
from jeton.model.json import Json


class RunSubmitted(FactBase, frozen=True, tag="run.submitted"):
    """The run was accepted, with this input."""

    input: Json


class RunStarted(FactBase, frozen=True, tag="run.started"):
    """The first token of the run began."""


class TriggerFired(FactBase, frozen=True, tag="trigger.fired"):
    """A trigger started this run; or it started the run `started`, for an event that this run published."""

    cause: str
    depth: int
    trigger: str | None = None
    source: str | None = None
    started: RunId | None = None


class TriggerRefused(FactBase, frozen=True, tag="trigger.refused"):
    """A trigger received an event that this run published, and started nothing."""

    trigger: str
    code: StoredRefusalCode
    problem: str


class RunWaiting(FactBase, frozen=True, tag="run.waiting"):
    """Every token of the run waits for something."""


class RunResumed(FactBase, frozen=True, tag="run.resumed"):
    """The run has work again, after it waited."""


class RunPaused(FactBase, frozen=True, tag="run.paused"):
    """Nothing new is dispatched until the run is unpaused."""


class RunUnpaused(FactBase, frozen=True, tag="run.unpaused"):
    """The run dispatches again."""


class RunCompleted(FactBase, frozen=True, tag="run.completed"):
    """The run ended well."""

    output: Json | msgspec.UnsetType = msgspec.UNSET


class RunFailed(FactBase, frozen=True, tag="run.failed"):
    """The run ended with an error that no transition handled."""

    error: RunError | None = None


class RunCancelled(FactBase, frozen=True, tag="run.cancelled"):
    """The run was cancelled."""

    error: RunError | None = None


class RunTimedOut(FactBase, frozen=True, tag="run.timed_out"):
    """The run reached its `timeout_ms`."""

    error: RunError | None = None


class RunExhausted(FactBase, frozen=True, tag="run.exhausted"):
    """The run ended because its credits were used up."""

    error: RunError | None = None


RunFact: TypeAlias = (
    RunSubmitted
    | RunStarted
    | TriggerFired
    | TriggerRefused
    | RunWaiting
    | RunResumed
    | RunPaused
    | RunUnpaused
    | RunCompleted
    | RunFailed
    | RunCancelled
    | RunTimedOut
    | RunExhausted
)
