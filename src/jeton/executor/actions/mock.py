"""`mock`: a fixed or generated result, for tests and drafts. Random values are derived from the call."""

from collections.abc import Iterator
from random import Random
from zlib import crc32

import msgspec
from msgspec import UNSET, UnsetType

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem, LaneName
from jeton.executor.actions.sample import sample
from jeton.expression.schema import SchemaValidator
from jeton.model.json import Json, Schema


class Range(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A range, both ends included."""

    min: int
    max: int


class Fail(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fail the first `times` calls, counting attempts of the task and infrastructure retries."""

    times: int = 1
    message: str = "mock failure"
    transient: bool = False


class Mock(Kind, frozen=True):
    """Waits, then fails or gives its output."""

    output: Json | UnsetType = UNSET
    schema: Schema | None = None
    seed: int | None = None
    delay_ms: int | Range = 0
    fail: Fail | None = None

    def problems(self) -> Iterator[KindProblem]:
        if self.output is not UNSET and self.schema is not None:
            yield KindProblem("", "has both 'output' and 'schema'", "remove one of the two")
        if isinstance(self.delay_ms, Range) and not 0 <= self.delay_ms.min <= self.delay_ms.max:
            yield KindProblem(
                "delay_ms", "needs a min of at least 0 and a max of at least min", "write {min: 1, max: 50}"
            )
        if isinstance(self.delay_ms, int) and self.delay_ms < 0:
            yield KindProblem("delay_ms", "is negative", "write 0 or more")

    def lane(self) -> LaneName:
        return "instant" if self.delay_ms == 0 else "loop"

    def prepare(self) -> ActionHandler:
        validator = None if self.schema is None else SchemaValidator(self.schema)

        async def act(call: ActionCall) -> Json | ActionFailed:
            if self.delay_ms != 0:
                await call.resources.clock.sleep(self._delay_ms(call))
            number = call.call.attempt + call.call.action_attempt - 1
            if self.fail is not None and number <= self.fail.times:
                return ActionFailed("mock_failure", self.fail.message, self.fail.transient)
            if validator is None or self.schema is None:
                return {} if isinstance(self.output, UnsetType) else self.output
            sampled = sample(self.schema, self._random(call))
            problem = validator.problem(sampled, "output")
            if problem is None:
                return sampled
            return ActionFailed(
                "mock_schema", f"cannot generate data for this schema; write 'output' instead: {problem}"
            )

        return act

    def _delay_ms(self, call: ActionCall) -> int:
        if isinstance(self.delay_ms, int):
            return self.delay_ms
        hashed = crc32(f"{self.seed}:{call.call.idempotency_key}:{call.call.action_attempt}".encode())
        return self.delay_ms.min + hashed % (self.delay_ms.max - self.delay_ms.min + 1)

    def _random(self, call: ActionCall) -> Random:
        """The random generator of a call. Without a seed, each call has its own, and a repeated call the same again."""
        return Random(call.call.idempotency_key if self.seed is None else self.seed)
