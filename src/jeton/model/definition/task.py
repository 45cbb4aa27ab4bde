"""Tasks, steps and actions: the work behind a node, as defined."""

from typing import Literal, final
from zlib import crc32

import msgspec

from jeton.model.json import Json, JsonObject, Mapping, Schema

DEFAULT_TASK_TIMEOUT_MS = 600_000

Backoff = Literal["none", "linear", "exponential"]
StepOutcome = Literal["continue", "skip", "succeed", "fail"]


class RetryPolicy(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How often, and after which delay, failed work is retried."""

    max_attempts: int = 1
    backoff: Backoff = "none"
    initial_delay_ms: int = 0
    max_delay_ms: int | None = None

    def delay_ms(self, attempt: int, who: str) -> int:
        """The delay after the attempt that failed, with up to a tenth added, and capped.

        The extra spreads work that failed together. It is derived from `who`, so computing it again gives the same.
        """
        match self.backoff:
            case "none":
                delay = self.initial_delay_ms
            case "linear":
                delay = self.initial_delay_ms * attempt
            case "exponential":
                delay = self.initial_delay_ms * 2 ** min(attempt - 1, 40)
        delay += crc32(f"{who}:{attempt}".encode()) % (delay // 10 + 1)
        return delay if self.max_delay_ms is None else min(delay, self.max_delay_ms)


@final
class Suspended(msgspec.Struct, frozen=True):
    """The answer of a task that sleeps: the same attempt continues at `until`, and no worker is held meanwhile."""

    until: int
    sleep: str
    state: Json = None  # what the task wants to find when it continues


@final
class AsksInput(msgspec.Struct, frozen=True):
    """The answer of a task that needs something from a person: the same attempt continues with what they say."""

    title: str
    schema: Schema | None = None  # of what they may say
    state: Json = None  # what the task wants to find when it continues
    timeout_ms: int | None = None  # how long the question is open; None: as long as the run


class CircuitBreaker(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """After this many transient failures in a row, in all runs together, no call is made for a while."""

    failures: int = 5
    cool_down_ms: int = 10_000


class Execution(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How the executor carries an action out."""

    timeout_ms: int | str | None = None
    retry_policy: RetryPolicy | None = None
    concurrency: int | None = None
    rate_per_s: float | None = None
    circuit_breaker: CircuitBreaker | None = None


class Idempotency(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An idempotency key of an action: it runs once per key, across runs, while the key lives."""

    key: str
    ttl_ms: int | None = None


class Action(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One atomic operation. `implementation` is its fixed configuration; what varies comes in the input."""

    kind: str
    implementation: JsonObject = msgspec.field(default_factory=dict[str, Json])
    input_schema: Schema | None = None
    output_schema: Schema | None = None
    execution: Execution | None = None
    idempotency: Idempotency | None = None
    isolation: Literal["thread", "process"] | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()


class StepCondition(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    rename={"test": "if", "otherwise": "else"},
):
    """Whether a step runs. Written `{if, then, else}`."""

    test: Json
    then: StepOutcome = "continue"
    otherwise: StepOutcome = "skip"


class Step(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One step of a task: an action, by name or inline, and what to do if it fails."""

    action: str | Action
    ref: str = ""
    input_mapping: Mapping | None = None
    output_mapping: Mapping | None = None
    on_failure: Literal["abort", "retry", "continue"] = "abort"
    condition: StepCondition | None = None


class Task(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An ordered list of steps that one worker runs in one dispatch; retried as a whole."""

    steps: tuple[Step, ...]
    input_schema: Schema | None = None
    output_schema: Schema | None = None
    timeout_ms: int | str = DEFAULT_TASK_TIMEOUT_MS
    retry: RetryPolicy | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    max_result_bytes: int | None = None  # of a tool's task: a larger result is stored as an artifact
    of_action: bool = False  # made from a node's `action:`; its result is that of the action, whatever its type
