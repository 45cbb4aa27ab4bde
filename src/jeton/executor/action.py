"""What a kind of action is to the executor. `actions/` has one file per kind; plugins add theirs in the same way.

A kind is a frozen value: its fields are what an author may write under `implementation`, so reading one checks it, and
what is fixed there cannot be changed by the input of a call.
"""

import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, final

import msgspec

from jeton.executor.artifacts import Artifacts
from jeton.executor.call import NO_PROFILES, CurrentCall
from jeton.executor.clock import Clock
from jeton.executor.event_sink import EventSink, MemoryEventSink
from jeton.executor.http.connections import Connections
from jeton.executor.limits.circuit_breakers import CircuitBreakers
from jeton.executor.limits.idempotency import IdempotencyStore, MemoryIdempotencyStore
from jeton.executor.limits.limiter import Limiter
from jeton.executor.python.results import BadResult
from jeton.executor.secrets import NO_SECRETS, ProjectSecrets, SecretStore
from jeton.executor.task.notes import NO_NOTES, NoteLimiter
from jeton.executor.workers.process_pool import ProcessPool
from jeton.executor.workers.thread_pool import ThreadPool
from jeton.model.codes import CustomFailure, FailureName
from jeton.model.definition.profile import ModelProfile
from jeton.model.definition.task import Suspended
from jeton.model.json import Json, JsonObject
from jeton.model.note import LogNote, Note, ProgressNote
from jeton.model.storable import valid_text


def wall_clock_ms() -> int:
    """What the clock on the wall says, in milliseconds."""
    return time.time_ns() // 1_000_000


LaneName: TypeAlias = Literal["instant", "loop", "thread", "process"]
"""What an action holds while it runs: nothing, because it never waits; a place on the loop; a thread; a process."""


EXPRESSION_VARIABLES = ("input", "state", "output")
"""What the expressions of a task and of its actions may read."""


class TransientError(Exception):
    """Raised by an action that failed for a passing reason: the same call may succeed when it is made again."""

    def __init__(self, message: str = "", retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


@final
class ActionFailed(msgspec.Struct, frozen=True):
    """An action that failed. `fatal`: the definition is at fault, so no step may pass over it or ask for a retry."""

    type: FailureName
    message: str
    transient: bool = False
    retry_after_ms: int | None = None
    fatal: bool = False
    stack: str | None = None  # where a function raised it


class KindProblem(msgspec.Struct, frozen=True):
    """Something wrong with an implementation: the path in it, what is wrong, and what to write instead."""

    path: str
    problem: str
    remedy: str


class Resources(msgspec.Struct, frozen=True):
    """What actions may use of the world outside."""

    clock: Clock
    threads: ThreadPool
    secrets: SecretStore = msgspec.field(default_factory=SecretStore)
    connections: Connections = msgspec.field(default_factory=Connections)
    folder: Path = Path()  # where the store is: relative roots begin here
    artifacts: Artifacts = msgspec.field(default_factory=lambda: Artifacts(Path("jeton-artifacts")))
    idempotency: IdempotencyStore = msgspec.field(default_factory=MemoryIdempotencyStore)
    limiter: Limiter = msgspec.field(default_factory=Limiter)
    breakers: CircuitBreakers = msgspec.field(default_factory=CircuitBreakers)
    processes: ProcessPool = msgspec.field(default_factory=ProcessPool)
    event_sink: EventSink = msgspec.field(default_factory=MemoryEventSink)
    wall_clock: Callable[[], int] = wall_clock_ms  # survives a restart, unlike the monotonic clock


class ActionCall(msgspec.Struct, frozen=True):
    """One attempt at an action. The task's `state` and `output` are there to read; only the step writes them."""

    input: Json
    state: JsonObject
    output: JsonObject
    call: CurrentCall
    resources: Resources
    settings: JsonObject = {}  # the project's
    secrets: ProjectSecrets = NO_SECRETS
    notes: NoteLimiter = NO_NOTES
    profiles: Mapping[str, ModelProfile] = NO_PROFILES  # the project's
    may_suspend: bool = False  # nothing is lost if the task is left here, and begun again later
    given_at: int = 0  # when the task was given out: no sleep that was over then is slept again

    def scope(self) -> JsonObject:
        """The variables of an action's expressions."""
        return {"input": self.input, "state": self.state, "output": self.output}

    async def secret(self, name: str) -> str:
        """The value of a secret of the project; raises SecretUnavailable, which names it."""
        return await self.secrets.get(name, self.resources.clock, self.resources.threads)

    def tell(self, note: Note) -> None:
        """Say how the call gets on, from any thread. Redacted here, and before anything is cut."""
        if self.secrets is not NO_SECRETS and isinstance(note, ProgressNote | LogNote):
            note = msgspec.structs.replace(note, text=self.secrets.text(note.text))
        self.notes.tell(note)


ActionResult: TypeAlias = Json | ActionFailed | Suspended

ActionHandler: TypeAlias = Callable[[ActionCall], Coroutine[Any, Any, ActionResult]]


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action's `implementation`, read. A subclass per kind."""

    def problems(self) -> Iterable[KindProblem]:
        """What is wrong beyond the shape, such as an expression that does not compile."""
        return ()

    def missing(self) -> str | None:
        """What it needs and cannot find in this process, if anything."""
        return None

    def lane(self) -> LaneName:
        """What a call of it holds."""
        return "loop"

    def prepare(self) -> ActionHandler:
        """What a call does. Asked for once per task, so that nothing is compiled twice."""
        raise NotImplementedError

    def isolate(self) -> ActionHandler | None:
        """The same in a process that can be killed; None if the kind has no such way."""
        return None


def failure_from(error: BaseException) -> ActionFailed:
    """A raised error as a failure: connections and timeouts pass, as does what says so itself; the rest is business."""
    if isinstance(error, BadResult):
        return ActionFailed("bad_result", valid_text(str(error)))
    message = valid_text(str(error)) or type(error).__name__
    if isinstance(error, TransientError):
        return ActionFailed(
            CustomFailure(type(error).__name__), message, transient=True, retry_after_ms=error.retry_after_ms
        )
    return ActionFailed(
        CustomFailure(type(error).__name__), message, transient=isinstance(error, ConnectionError | TimeoutError)
    )
