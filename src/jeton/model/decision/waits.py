"""Decisions about what tokens wait for: timers, child runs, gates and signals."""

from typing import TypeAlias

import msgspec

from jeton.model.decision.base import DecisionBase
from jeton.model.failure import RunError
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, Schema
from jeton.model.state.phase import GateAnswer
from jeton.model.state.run import RunStatus


class WaitForTimer(DecisionBase, frozen=True, tag="wait_for_timer"):
    """Let the token wait until `due`."""

    token: TokenId
    node: str
    at: int
    due: int
    label: str | None = None
    missing: tuple[str, ...] = ()
    wall: bool = False  # `due` is a point in time, by the system clock


class CallWorkflow(DecisionBase, frozen=True, tag="call_workflow"):
    """Start another workflow as a run of its own, and wait for its end."""

    token: TokenId
    node: str
    at: int
    child: RunId
    workflow: str
    input: Json | msgspec.UnsetType = msgspec.UNSET
    deadline: int | None = None
    inherit_artifacts: bool = False
    missing: tuple[str, ...] = ()


class EndChild(DecisionBase, frozen=True, tag="end_child"):
    """The child run ended."""

    token: TokenId
    child: RunId
    status: RunStatus
    error: RunError | None = None
    spent: int = 0  # for an agent, by its model calls: in millionths of a credit


class StopChild(DecisionBase, frozen=True, tag="stop_child"):
    """Cancel a child run that nobody waits for any more."""

    token: TokenId
    child: RunId
    reason: str


class OpenGate(DecisionBase, frozen=True, tag="open_gate"):
    """Open a gate: the token waits for answers of people."""

    token: TokenId
    node: str
    at: int
    title: str
    deadline: int | None = None
    missing: tuple[str, ...] = ()


class AskInput(DecisionBase, frozen=True, tag="ask_input"):
    """Open a gate for what a task asks people. `state`: what the task wants to find when it continues."""

    token: TokenId
    node: str
    at: int
    title: str
    schema: Schema | None = None
    state: Json = None
    deadline: int | None = None


class ContinueTask(DecisionBase, frozen=True, tag="continue_task"):
    """The task's question is answered: hand the same attempt to a worker. Deliveries are counted anew.

    In a paused run it sleeps until the run is unpaused."""

    token: TokenId
    node: str
    at: int
    deadline: int
    attempt: int
    paused: bool = False


class TakeAnswer(DecisionBase, frozen=True, tag="take_answer"):
    """Accept an answer to a gate. `early`: the number it was kept under."""

    token: TokenId
    node: str
    answer: GateAnswer
    early: int | None = None


class KeepAnswer(DecisionBase, frozen=True, tag="keep_answer"):
    """An answer to a gate that is not open yet, kept until it opens."""

    number: int
    node: str
    path: str
    answer: GateAnswer


class TimeOutGate(DecisionBase, frozen=True, tag="time_out_gate"):
    """The time of a gate is over; its `on_timeout` says what follows."""

    token: TokenId
    node: str


class WaitForSignal(DecisionBase, frozen=True, tag="wait_for_signal"):
    """Let the token wait for a signal, or for the first of several: then `name` is empty."""

    token: TokenId
    node: str
    at: int
    name: str
    deadline: int | None = None
    label: str | None = None
    missing: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class KeepSignal(DecisionBase, frozen=True, tag="keep_signal"):
    """Keep a signal until a token takes it."""

    number: int
    name: str
    at: int
    value: Json = None
    key: str | None = None


class TakeSignal(DecisionBase, frozen=True, tag="take_signal"):
    """A token takes a kept signal."""

    token: TokenId
    name: str
    number: int


WaitsDecision: TypeAlias = (
    WaitForTimer
    | CallWorkflow
    | EndChild
    | StopChild
    | OpenGate
    | AskInput
    | ContinueTask
    | TakeAnswer
    | KeepAnswer
    | TimeOutGate
    | WaitForSignal
    | KeepSignal
    | TakeSignal
)
