"""Durable steps of a node: a finished step is not run again when the node is, after a sleep, a crash or a retry.

The result of a step is stored under its name, the run and the token. When the node runs again, a finished step gives
its stored result, and an unfinished one is run again. A sleep ends the function, which is called again when the sleep
is over, so that a sleeping node occupies nothing.
"""

import asyncio
import inspect
import math
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack
from contextvars import ContextVar
from typing import Any, SupportsFloat, TypeVar
from urllib.parse import quote

import msgspec

from jeton.executor.action import ActionCall, ActionFailed
from jeton.executor.actions.emit import EVENT, MAX_BYTES, MAX_EVENT_LENGTH
from jeton.executor.artifacts import MAX_BYTES as MAX_ARTIFACT_BYTES
from jeton.executor.call import CurrentCall, enter_call, leave_call
from jeton.executor.event_sink import ActionEvent
from jeton.executor.limits.idempotency import Claimed, Completed, step_key
from jeton.executor.python.bytes_artifacts import store_bytes
from jeton.executor.python.bytes_paths import Path, set_at
from jeton.executor.python.extract_bytes import ExtractedBytes, extract_bytes
from jeton.executor.python.node_sleep import SleepIgnored, SleepState
from jeton.executor.python.results import encoded
from jeton.executor.workers.cancellation import current_task
from jeton.model.definition.task import Suspended
from jeton.model.json import Json, JsonObject
from jeton.model.note import CostNote, Note

MOMENT_MS = 100  # a sleep with no more than this left does not end the function
MAX_SLEEP_S = 100 * 365.25 * 86400
REFUSED_MS = 100  # delays a function that catches the end at a sleep and loops

_Value = TypeVar("_Value")


class Steps:
    """The durable steps of an async node, for one call."""

    def __init__(self, call: ActionCall) -> None:
        self._call = call
        self._names: set[str] = set()
        self._sleep_count = 0
        self._sleeps = SleepState()

    async def run(self, name: str, function: Callable[[], Awaitable[Any] | Any]) -> Any:
        """Run a function, which may be async, or give its stored result. Results are plain JSON and bytes."""
        found = await self.begin(name, current_task())
        if isinstance(found, StepResult):
            return self.replay(found)
        with self.running_step(name) as spent:
            value = function()
            result = extract_bytes(await value if inspect.isawaitable(value) else value, f"step '{name}'")
        return await self.finish(name, result, spent)

    async def sleep(self, seconds: float, name: str | None = None) -> None:
        """Sleep, counted from the first call with this name; without a name, sleeps are numbered in order.

        The function ends here, by a BaseException. When the time is over it is called again: finished steps are not
        run again, and this sleep returns at once.
        """
        await self.sleep_until_due(seconds, name, current_task())

    async def begin(self, name: str, caller: object) -> "Claimed | StepResult":
        """The stored result of a step, or the claim to run it."""
        _check_name(name)
        step = f"run:{name}"
        await self._begin_step(step, caller)
        if self._sleeps.asleep:
            raise self._sleeps.end(caller)
        found = await self._call.resources.idempotency.begin(self._key(step), self._call.call.idempotency_key)
        return found if isinstance(found, Claimed) else await self._read(found)

    def replay(self, found: "StepResult") -> object:
        """The stored result of a step. Its cost counts towards that of the node."""
        if found.cost:
            outer = _current_step.get()
            report = self._call.report if outer is None else outer.report
            report(CostNote(self._call.call.step, found.cost))
        return found.value

    def running_step(self, name: str) -> "RunningStep":
        """The context of a step while its function runs."""
        return RunningStep(self._call, name)

    async def finish(self, name: str, result: Json | ExtractedBytes, spent: "RunningStep") -> object:
        """Store the result of a step, bytes as artifacts. Gives it as later calls will get it; durable on return."""
        kept: JsonObject
        given: object = result
        if isinstance(result, ExtractedBytes):
            value, clean = await store_bytes(result, self._call)
            kept = {"gave": value, "contents": [list(path) for path, _ in clean.contents]}
            given = clean.restored()
        else:
            kept = {"gave": result}
        if spent.credits:
            kept["cost"] = spent.credits
        await self._call.resources.idempotency.finish(self._key(f"run:{name}"), kept, None)
        return given

    async def _read(self, done: Completed) -> "StepResult":
        """The stored result of a step, with its bytes. Raises ArtifactMissing."""
        kept = msgspec.convert(done.result, _StoredStep)
        value: object = msgspec.to_builtins(kept.gave)
        for path in kept.contents:
            value = set_at(value, path, await self._content(value, path))
        return StepResult(value, kept.cost)

    async def _content(self, value: object, path: Path) -> bytes:
        reference: Any = value
        for key in path:
            reference = reference[key]
        artifacts = self._call.resources.artifacts
        return (await artifacts.read(self._call.call.run, reference["id"], MAX_ARTIFACT_BYTES))[1]

    async def sleep_until_due(self, seconds: float, name: str | None, caller: object) -> None:
        """Sleep on behalf of a task or thread."""
        _check_seconds(seconds)
        self._sleep_count += 1
        named = str(name) if name else f"sleep {self._sleep_count}"
        step = f"sleep:{named}"
        await self._begin_step(step, caller)
        keys, wall = self._call.resources.idempotency, self._call.resources.wall_clock
        found = await keys.begin(self._key(step), str(wall() + round(seconds * 1000)))
        if isinstance(found, Completed):
            return
        due = int(found.idempotency_key)
        left = due - max(wall(), self._call.given_at)
        if left > MOMENT_MS and self._call.may_suspend:
            raise self._sleeps.fall_asleep(due, named, caller)
        if left > 0:
            await self._call.resources.clock.sleep(left)
        await keys.finish(self._key(step), None, None)

    def outcome(self, error: BaseException | None) -> Suspended | ActionFailed | None:
        """The result of the call if it ended because of a sleep; otherwise None."""
        return self._sleeps.outcome(error)

    async def _begin_step(self, step: str, caller: object) -> None:
        if self._sleeps.check_continued(caller):
            await self._call.resources.clock.sleep(REFUSED_MS)
            raise SleepIgnored("the function is asleep, but caught the exception that ends it")
        if step in self._names:
            raise ValueError(f"step {step!r} was already used in this node: give each step its own name")
        self._names.add(step)

    def _key(self, step: str) -> str:
        made = self._call.call
        return step_key(made.run, made.token, step)


class StepResult(msgspec.Struct, frozen=True):
    """The result of a step, plain JSON and bytes, and its cost."""

    value: object
    cost: int


class _StoredStep(msgspec.Struct, frozen=True):
    """A result as it is stored: at the paths in `contents` are references instead of bytes."""

    gave: Json = None
    contents: tuple[Path, ...] = ()
    cost: int = 0


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the name of a step must be a string, not {name!r}: step.run('charge', function)")


def _check_seconds(seconds: object) -> None:
    if not isinstance(seconds, SupportsFloat):
        raise TypeError(f"a sleep must be a number of seconds, not {seconds!r}")
    length = float(seconds)
    if not (math.isfinite(length) and 0 <= length <= MAX_SLEEP_S):
        raise ValueError(f"a sleep must be between 0 seconds and 100 years, not {seconds}")


class RunningStep:
    """A step while its function runs: passes notes on, and adds up the cost.

    A step may run inside another, and its cost is part of that one's.
    """

    def __init__(self, call: ActionCall, name: str) -> None:
        self._call = call
        self._outer = _current_step.get()
        self._left = ExitStack()
        self.name = name
        self.credits = 0

    def __enter__(self) -> "RunningStep":
        self._left.callback(leave_call, enter_call(self._own_call(), self.report, self._call.profiles))
        self._left.callback(_current_step.reset, _current_step.set(self))
        return self

    def __exit__(self, *_raised: object) -> None:
        self._left.close()

    def _own_call(self) -> CurrentCall:
        """The call of the node under the step's own idempotency key, quoted because a name may contain anything.

        With the key of the node, a service would take the second step for a repetition of the first."""
        made = self._call.call
        return msgspec.structs.replace(made, idempotency_key=f"{made.idempotency_key}:{quote(self.name, safe='')}")

    def report(self, note: Note) -> None:
        """Pass a note on, adding up its cost."""
        if isinstance(note, CostNote):
            self.credits += note.credits
        if self._outer is None:
            self._call.report(note)
        else:
            self._outer.report(note)


_current_step: ContextVar[RunningStep | None] = ContextVar("jeton_step", default=None)


class BlockingSteps:
    """The durable steps of a node that is not async and runs in a thread."""

    def __init__(self, steps: Steps, loop: asyncio.AbstractEventLoop) -> None:
        self._steps = steps
        self._loop = loop

    def run(self, name: str, function: Callable[[], Any]) -> Any:
        """Run a function in this thread, or give its stored result."""
        found = self._wait(self._steps.begin(name, threading.get_ident()))
        if isinstance(found, StepResult):
            return self._steps.replay(found)
        with self._steps.running_step(name) as spent:
            result = extract_bytes(function(), f"step '{name}'")
        return self._wait(self._steps.finish(name, result, spent))

    def sleep(self, seconds: float, name: str | None = None) -> None:
        """Sleep, counted from the first call. The function ends here, and is called again when the time is over."""
        self._wait(self._steps.sleep_until_due(seconds, name, threading.get_ident()))

    def _wait(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class Publisher:
    """Publishes events of a node. If the node runs again, the same events count once.

    Events within a step are numbered separately, so that a skipped step does not change the other numbers.
    """

    def __init__(self, call: ActionCall) -> None:
        self._call = call
        self._counts: Counter[tuple[str | None, str]] = Counter()

    async def __call__(self, event: str, data: object = None) -> None:
        """Publish a named event."""
        if not EVENT.fullmatch(event) or len(event) > MAX_EVENT_LENGTH:
            raise ValueError(f"{event!r} is not a valid event name: write names joined by dots, such as 'order.placed'")
        extracted = extract_bytes(data, "data")
        value = (await store_bytes(extracted, self._call))[0] if isinstance(extracted, ExtractedBytes) else extracted
        size = len(encoded(value))
        if size > MAX_BYTES:
            raise ValueError(f"the event has {size} bytes of data, more than {MAX_BYTES}")
        made = self._call.call
        current_step = _current_step.get()
        step = None if current_step is None else current_step.name
        self._counts[step, event] += 1
        within = "" if step is None else f"{step}:"
        id = f"{made.idempotency_key}:{within}{event}:{self._counts[step, event]}"
        await self._call.resources.event_sink.emit(ActionEvent(id, event, value, made.run, made.node))


class BlockingPublisher:
    """Publishes events of a node that runs in a thread."""

    def __init__(self, publisher: Publisher, loop: asyncio.AbstractEventLoop) -> None:
        self._publisher = publisher
        self._loop = loop

    def __call__(self, event: str, data: object = None) -> None:
        """Publish a named event."""
        asyncio.run_coroutine_threadsafe(self._publisher(event, data), self._loop).result()
