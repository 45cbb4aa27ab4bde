"""What a kind of action is to the executor. `actions/` has one file per kind; plugins add theirs in the same way.

A kind is a frozen value: its fields are what an author may write under `implementation`, so reading one checks it, and
what is fixed there cannot be changed by the input of a call.
"""

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Literal, TypeAlias

import msgspec

from jeton.executor.call import Call
from jeton.executor.clock import Clock
from jeton.executor.threads import Threads
from jeton.model.json import Json, JsonObject

LaneName: TypeAlias = Literal["instant", "loop", "thread"]
"""What an action holds while it runs: nothing, because it never waits; a place on the event loop; a thread."""


class TransientError(Exception):
    """Raised by an action that failed for a passing reason: the same call may succeed when it is made again."""

    def __init__(self, message: str = "", retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


class ActionFailed(msgspec.Struct, frozen=True):
    """An action that failed. `fatal`: the definition is at fault, so no step may pass over it or ask for a retry."""

    type: str
    message: str
    transient: bool = False
    retry_after_ms: int | None = None
    fatal: bool = False


class Flaw(msgspec.Struct, frozen=True):
    """Something wrong with an implementation: the path in it, what is wrong, and what to write instead."""

    path: str
    problem: str
    remedy: str


class Resources(msgspec.Struct, frozen=True):
    """What actions may use of the world outside."""

    clock: Clock
    threads: Threads


class ActionCall(msgspec.Struct, frozen=True):
    """One attempt at an action. The task's `state` and `output` are there to read; only the step writes them."""

    input: Json
    state: JsonObject
    output: JsonObject
    call: Call
    resources: Resources
    settings: JsonObject = {}  # the project's


Act: TypeAlias = Callable[[ActionCall], Coroutine[Any, Any, Json | ActionFailed]]


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action's `implementation`, read. A subclass per kind."""

    def flaws(self) -> Iterable[Flaw]:
        """What is wrong beyond the shape, such as an expression that does not compile."""
        return ()

    def missing(self) -> str | None:
        """What it needs and cannot find in this process, if anything."""
        return None

    def lane(self) -> LaneName:
        """What a call of it holds."""
        return "loop"

    def prepare(self) -> Act:
        """What a call does. Asked for once per task, so that nothing is compiled twice."""
        raise NotImplementedError


def failed_by(error: BaseException) -> ActionFailed:
    """A raised error as a failure: connections and timeouts pass, as does what says so itself; the rest is business."""
    message = str(error) or type(error).__name__
    if isinstance(error, TransientError):
        return ActionFailed(type(error).__name__, message, transient=True, retry_after_ms=error.retry_after_ms)
    return ActionFailed(type(error).__name__, message, transient=isinstance(error, ConnectionError | TimeoutError))
