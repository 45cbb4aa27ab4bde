"""Facts about what tokens wait for: timers, child runs, gates and signals."""

from typing import TypeAlias

from jeton.model.event.base import FactBase
from jeton.model.failure import RunError
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json


class TimerSet(FactBase, frozen=True, tag="timer.set"):
    token: TokenId
    due: int
    label: str | None = None


class TimerFired(FactBase, frozen=True, tag="timer.fired"):
    token: TokenId


class ChildStarted(FactBase, frozen=True, tag="child.started"):
    token: TokenId
    child: RunId
    workflow: str


class ChildCompleted(FactBase, frozen=True, tag="child.completed"):
    token: TokenId
    child: RunId


class ChildFailed(FactBase, frozen=True, tag="child.failed"):
    token: TokenId
    child: RunId
    error: RunError | None = None


class ChildCancelled(FactBase, frozen=True, tag="child.cancelled"):
    token: TokenId
    child: RunId
    reason: str | None = None


class GateOpened(FactBase, frozen=True, tag="gate.opened"):
    token: TokenId
    node: str
    title: str
    due: int | None = None


class GateAnswered(FactBase, frozen=True, tag="gate.answered"):
    token: TokenId
    node: str
    value: Json
    by: str | None = None


class GateTimedOut(FactBase, frozen=True, tag="gate.timed_out"):
    token: TokenId
    node: str


class SignalReceived(FactBase, frozen=True, tag="signal.received"):
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
