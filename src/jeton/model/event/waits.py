"""Facts about what tokens wait for: timers, child runs, gates and signals."""

from typing import TypeAlias

from jeton.model.event.base import FactBase
from jeton.model.failure import RunError
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json


class TimerSet(FactBase, frozen=True, tag="timer.set"):
    """A timed wait began, and ends at `due`."""

    token: TokenId
    due: int
    label: str | None = None


class TimerFired(FactBase, frozen=True, tag="timer.fired"):
    """A timed wait ended."""

    token: TokenId


class ChildStarted(FactBase, frozen=True, tag="child.started"):
    """A child run was started."""

    token: TokenId
    child: RunId
    workflow: str


class ChildCompleted(FactBase, frozen=True, tag="child.completed"):
    """A child run ended well."""

    token: TokenId
    child: RunId


class ChildFailed(FactBase, frozen=True, tag="child.failed"):
    """A child run ended with an error."""

    token: TokenId
    child: RunId
    error: RunError | None = None


class ChildCancelled(FactBase, frozen=True, tag="child.cancelled"):
    """A child run was cancelled."""

    token: TokenId
    child: RunId
    reason: str | None = None


class GateOpened(FactBase, frozen=True, tag="gate.opened"):
    """A gate waits for answers."""

    token: TokenId
    node: str
    title: str
    due: int | None = None


class GateAnswered(FactBase, frozen=True, tag="gate.answered"):
    """A gate accepted an answer."""

    token: TokenId
    node: str
    value: Json
    by: str | None = None


class GateTimedOut(FactBase, frozen=True, tag="gate.timed_out"):
    """The time of a gate was over before it had its answers."""

    token: TokenId
    node: str


class SignalReceived(FactBase, frozen=True, tag="signal.received"):
    """A signal came for the run."""

    name: str
    value: Json = None
    key: str | None = None


WaitsFact: TypeAlias = (
    TimerSet
    | TimerFired
    | ChildStarted
    | ChildCompleted
    | ChildFailed
    | ChildCancelled
    | GateOpened
    | GateAnswered
    | GateTimedOut
    | SignalReceived
)
