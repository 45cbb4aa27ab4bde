"""The interface between the executor and the kinds of action. `actions/` has one file per kind; plugins add more.

A kind is a frozen value whose fields are the keys allowed under `implementation`. Decoding a definition into it checks
the shape, and the input of a call cannot change what is fixed there.
"""

import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, final

import msgspec

from jeton.executor.artifacts import Artifacts
from jeton.executor.call import NO_MEMORIES, NO_PROFILES, CurrentCall
from jeton.executor.clock import Clock
from jeton.executor.deltas import Deltas
from jeton.executor.event_sink import EventSink, MemoryEventSink
from jeton.executor.http.connections import Connections
from jeton.executor.limits.circuit_breakers import CircuitBreakers
from jeton.executor.limits.idempotency import IdempotencyStore, MemoryIdempotencyStore
from jeton.executor.limits.limiter import Limiter
from jeton.executor.mcp.pins import MemoryPinStore, PinStore
from jeton.executor.mcp.servers import McpServers
from jeton.executor.memory import InMemoryStore, MemoryStore
from jeton.executor.models.clients import ModelClients
from jeton.executor.python.blocking import LoopWatch
from jeton.executor.python.results import BadResult
from jeton.executor.python.transient import is_transient
from jeton.executor.secrets import NO_SECRETS, ProjectSecrets, SecretStore
from jeton.executor.signals import NoSignals, Signals
from jeton.executor.task.notes import NO_NOTES, NoteLimiter
from jeton.executor.workers.process_pool import ProcessPool
from jeton.executor.workers.thread_pool import ThreadPool
from jeton.model.chat import Speaker, ToolSpec
from jeton.model.codes import FailureName
from jeton.model.definition.agent import MemoryPolicy, Prompt
from jeton.model.definition.profile import ModelProfile
from jeton.model.definition.task import AsksInput, Suspended
from jeton.model.json import Json, JsonObject
from jeton.model.note import LogNote, Note, ProgressNote
from jeton.model.state.phase import Continuation
from jeton.model.storable import valid_text


def wall_clock_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


LaneName: TypeAlias = Literal["instant", "loop", "thread", "process"]
"""What an action occupies while it runs: nothing (it never waits), the event loop, a thread, or a process."""


class TransientError(Exception):
    """Raised by an action that failed temporarily: the same call may succeed if it is repeated."""

    def __init__(self, message: str = "", retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


@final
class ActionFailed(msgspec.Struct, frozen=True):
    """A failed action. `fatal`: the definition is at fault, so `on_failure` does not apply and nothing is retried."""

    type: FailureName
    message: str
    transient: bool = False
    retry_after_ms: int | None = None
    fatal: bool = False
    stack: str | None = None  # the traceback of what a function raised
    calls: int = 1  # made of this action, with infrastructure retries


class KindProblem(msgspec.Struct, frozen=True):
    """A problem with an `implementation`: the path in it, what is wrong, and what to write instead."""

    path: str
    problem: str
    remedy: str


class Resources(msgspec.Struct, frozen=True):
    """What actions share: clocks, pools, connections, limits, and the stores of the engine."""

    clock: Clock
    threads: ThreadPool
    secrets: SecretStore = msgspec.field(default_factory=SecretStore)
    connections: Connections = msgspec.field(default_factory=Connections)
    folder: Path = Path()  # of the store; relative roots are resolved against it
    artifacts: Artifacts = msgspec.field(default_factory=lambda: Artifacts(Path("jeton-artifacts")))
    idempotency: IdempotencyStore = msgspec.field(default_factory=MemoryIdempotencyStore)
    limiter: Limiter = msgspec.field(default_factory=Limiter)
    breakers: CircuitBreakers = msgspec.field(default_factory=CircuitBreakers)
    processes: ProcessPool = msgspec.field(default_factory=ProcessPool)
    event_sink: EventSink = msgspec.field(default_factory=MemoryEventSink)
    signals: Signals = msgspec.field(default_factory=NoSignals)
    servers: McpServers = msgspec.field(default_factory=McpServers)
    pins: PinStore = msgspec.field(default_factory=MemoryPinStore)
    deltas: Deltas = msgspec.field(default_factory=Deltas)
    models: ModelClients = msgspec.field(default_factory=ModelClients)
    memory: MemoryStore = msgspec.field(default_factory=InMemoryStore)
    watch: LoopWatch = msgspec.field(default_factory=LoopWatch)
    wall_clock: Callable[[], int] = wall_clock_ms  # survives a restart, unlike the monotonic clock


class ActionCall(msgspec.Struct, frozen=True):
    """One attempt at an action. `state` and `output` are those of the task, to be read only."""

    input: Json
    state: JsonObject
    output: JsonObject
    call: CurrentCall
    resources: Resources
    settings: JsonObject = {}  # project.settings
    secrets: ProjectSecrets = NO_SECRETS
    notes: NoteLimiter = msgspec.field(default_factory=lambda: NO_NOTES)
    profiles: Mapping[str, ModelProfile] = NO_PROFILES  # of the project
    may_suspend: bool = False  # whether the task may be abandoned here and started again later
    given_at: int = 0  # when the task was started: sleeps that were over by then are skipped
    run: JsonObject = {}  # what expressions read as `run`
    timeout_ms: int | None = None  # of this attempt
    delivery: int = 1  # of the task to a worker
    speaker: Speaker | None = None  # the agent it works for
    continuation: Continuation | None = None  # what the attempt left behind when it gave its worker back
    prompts: Mapping[str, Prompt] = {}  # of the project
    tools: Mapping[str, ToolSpec] = {}  # that an `llm` action may tell a model of
    memories: Mapping[str, MemoryPolicy] = NO_MEMORIES  # of the agents that the project has

    def scope(self) -> JsonObject:
        """The variables of an action's expressions."""
        return {"input": self.input, "state": self.state, "output": self.output, "run": self.run}

    def values(self) -> JsonObject:
        """What placeholders read: the input, and `run` unless the input has that key."""
        return {"run": self.run, **self.input} if isinstance(self.input, dict) else {"run": self.run}

    async def secret(self, name: str) -> str:
        """The value of one of the project's secrets. Raises SecretUnavailable."""
        return await self.secrets.get(name, self.resources.clock, self.resources.threads)

    def report(self, note: Note) -> None:
        """Report progress, a log line or a cost, from any thread. Secrets are redacted before the text is truncated."""
        if self.secrets is not NO_SECRETS and isinstance(note, ProgressNote | LogNote):
            note = msgspec.structs.replace(note, text=self.secrets.text(note.text))
        self.notes.add(note)


ActionResult: TypeAlias = Json | ActionFailed | Suspended | AsksInput
"""What an attempt gives: a value, a failure, or a request to be called again, later or with somebody's answer."""

ActionHandler: TypeAlias = Callable[[ActionCall], Coroutine[Any, Any, ActionResult]]
"""A coroutine function that makes one attempt."""


class Kind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `implementation` of an action. Subclass it, with `frozen=True`, for a new kind."""

    def problems(self) -> Iterable[KindProblem]:
        """Problems besides the shape, such as an expression that does not compile. Must not run anything."""
        return ()

    def missing(self) -> str | None:
        """Name what the action needs and this process lacks, such as a function; None if nothing is missing."""
        return None

    def lane(self) -> LaneName:
        """What a call occupies while it runs."""
        return "loop"

    def is_transient(self, error: BaseException) -> bool:
        """Whether the same call may succeed if it is repeated after this exception."""
        return is_transient(error)

    def prepare(self) -> ActionHandler:
        """Compile the handler of calls. Called once per task definition."""
        raise NotImplementedError

    def isolate(self) -> ActionHandler | None:
        """Compile a handler that runs in a process of its own; None if the kind does not support that."""
        return None


def failure_from(error: BaseException, is_transient: Callable[[BaseException], bool] = is_transient) -> ActionFailed:
    """Turn an exception into a failure."""
    if isinstance(error, BadResult):
        return ActionFailed("bad_result", valid_text(str(error)))
    message = valid_text(str(error)) or type(error).__name__
    if isinstance(error, TransientError):
        return ActionFailed(type(error).__name__, message, transient=True, retry_after_ms=error.retry_after_ms)
    return ActionFailed(type(error).__name__, message, transient=is_transient(error))
