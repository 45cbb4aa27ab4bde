"""Durable sub-steps of a node: what was done once is not done again when the node is.

That is after a sleep, a crash or a retry. Each has a name, and what it gave is kept under it: by the run and the token,
so that it is this node's own. The next time, a step that was done gives what it gave; one that had only begun is done
again, as any task is. A sleep ends the function, which begins again when it is over: so a sleeping node holds nothing.
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

import msgspec

from jeton.executor.action import ActionCall, ActionFailed
from jeton.executor.actions.emit import EVENT, LONGEST_EVENT, MOST_BYTES
from jeton.executor.artifacts import MOST_BYTES as MOST_BYTES_OF_ARTIFACT
from jeton.executor.call import enter_call, leave_call
from jeton.executor.event_sink import ActionEvent
from jeton.executor.limits.idempotency import Claimed, Completed, step_key
from jeton.executor.python.bytes_artifacts import keep
from jeton.executor.python.bytes_paths import Path, put
from jeton.executor.python.extract_bytes import ExtractedBytes, extract_bytes
from jeton.executor.python.node_sleep import SleepIgnored, SleepState
from jeton.executor.python.results import encoded
from jeton.executor.workers.cancellation import current_task
from jeton.model.definition.task import Suspended
from jeton.model.json import Json, JsonObject
from jeton.model.note import CostNote, Note

MOMENT_MS = 100  # what is left of a sleep and is no longer than this is waited for where it is
LONGEST_SLEEP_S = 100 * 365.25 * 86400
REFUSED_MS = 100  # whoever goes on all the same does not do so in circles without end

_Value = TypeVar("_Value")


class Steps:
    """The steps of one call of an async node."""

    def __init__(self, call: ActionCall) -> None:
        self._call = call
        self._taken: set[str] = set()
        self._slept = 0
        self._sleeps = SleepState()

    async def run(self, name: str, function: Callable[[], Awaitable[Any] | Any]) -> Any:
        """What the function gives, as plain JSON and bytes, now or the first time; it may be async.

        Its errors are the node's."""
        found = await self.begin(name, current_task())
        if isinstance(found, StepResult):
            return self.gave(found)
        with self.taking(name) as spent:
            value = function()
            result = extract_bytes(await value if inspect.isawaitable(value) else value, f"step '{name}'")
        return await self.finish(name, result, spent)

    async def sleep(self, seconds: float, name: str | None = None) -> None:
        """Wait, from when it was first asked for. By name, or in the order of calls.

        The function ends here, by something raised that is no `Exception`. When the time has come it is called again:
        the steps it took before are not taken again, and it goes on behind the sleep.
        """
        await self.rest(seconds, name, current_task())

    async def begin(self, name: str, who: object) -> "Claimed | StepResult":
        """What became of a step: it was done, or it is to be done, now or again."""
        _check_name(name)
        step = f"run:{name}"
        await self._take(step, who)
        if self._sleeps.asleep:
            raise self._sleeps.end(who)
        found = await self._call.resources.idempotency.begin(self._key(step), self._call.call.idempotency_key)
        return found if isinstance(found, Claimed) else await self._read(found)

    def gave(self, found: "StepResult") -> object:
        """What a step gave when it was taken; what it cost then is part of what the node costs."""
        if found.cost:
            taking = _taking.get()
            tell = self._call.tell if taking is None else taking.tell
            tell(CostNote(self._call.call.step, found.cost))
        return found.value

    def taking(self, name: str) -> "RunningStep":
        """The step, while its function is called."""
        return RunningStep(self._call, name)

    async def finish(self, name: str, result: Json | ExtractedBytes, spent: "RunningStep") -> object:
        """Keep what a step gave, bytes as artifacts; durable when this returns it, as it will be given again."""
        kept: JsonObject
        given: object = result
        if isinstance(result, ExtractedBytes):
            gave, clean = await keep(result, self._call)
            kept = {"gave": gave, "contents": [list(path) for path, _ in clean.contents]}
            given = clean.whole()
        else:
            kept = {"gave": result}
        if spent.credits:
            kept["cost"] = spent.credits
        await self._call.resources.idempotency.finish(self._key(f"run:{name}"), kept, None)
        return given

    async def _read(self, done: Completed) -> "StepResult":
        """What is kept of a step, with its bytes; raises ArtifactMissing."""
        kept = msgspec.convert(done.result, _Kept)
        value: object = msgspec.to_builtins(kept.gave)
        for path in kept.contents:
            value = put(value, path, await self._content(value, path))
        return StepResult(value, kept.cost)

    async def _content(self, value: object, path: Path) -> bytes:
        reference: Any = value
        for key in path:
            reference = reference[key]
        artifacts = self._call.resources.artifacts
        return (await artifacts.read(self._call.call.run, reference["id"], MOST_BYTES_OF_ARTIFACT))[1]

    async def rest(self, seconds: float, name: str | None, who: object) -> None:
        """The sleep, of whichever task or thread."""
        _check_seconds(seconds)
        self._slept += 1
        named = str(name) if name else f"sleep {self._slept}"
        step = f"sleep:{named}"
        await self._take(step, who)
        keys, wall = self._call.resources.idempotency, self._call.resources.wall_clock
        found = await keys.begin(self._key(step), str(wall() + round(seconds * 1000)))
        if isinstance(found, Completed):
            return
        due = int(found.call)
        left = due - max(wall(), self._call.given_at)
        if left > MOMENT_MS and self._call.may_suspend:
            raise self._sleeps.fall_asleep(due, named, who)
        if left > 0:
            await self._call.resources.clock.sleep(left)
        await keys.finish(self._key(step), None, None)

    def outcome(self, error: BaseException | None) -> Suspended | ActionFailed | None:
        """What the end of the function means if it was at a sleep."""
        return self._sleeps.outcome(error)

    async def _take(self, step: str, who: object) -> None:
        if self._sleeps.goes_on(who):
            await self._call.resources.clock.sleep(REFUSED_MS)
            raise SleepIgnored("the function is asleep, and caught what ends it until its sleep is over")
        if step in self._taken:
            raise ValueError(f"step {step!r} was taken before in this node: give each a name of its own")
        self._taken.add(step)

    def _key(self, step: str) -> str:
        made = self._call.call
        return step_key(made.run, made.token, step)


class StepResult(msgspec.Struct, frozen=True):
    """What a step gave, plain JSON and bytes, and what it cost."""

    value: object
    cost: int


class _Kept(msgspec.Struct, frozen=True):
    """The same as it is kept: in the places named there are references instead of bytes."""

    gave: Json = None
    contents: tuple[Path, ...] = ()
    cost: int = 0


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"a step has a name, which is a text, and this is {name!r}: step.run('charge', function)")


def _check_seconds(seconds: object) -> None:
    if not isinstance(seconds, SupportsFloat):
        raise TypeError(f"a sleep is a number of seconds long, and this is {seconds!r}")
    length = float(seconds)
    if not (math.isfinite(length) and 0 <= length <= LONGEST_SLEEP_S):
        raise ValueError(f"a sleep is from 0 seconds to a hundred years long, and this is {seconds}")


class RunningStep:
    """A step while it is taken: what its function says goes on to whoever listens, and what it costs is added up.

    A step may be taken inside another, and is part of what that one costs.
    """

    def __init__(self, call: ActionCall, name: str) -> None:
        self._call = call
        self._outer = _taking.get()
        self._left = ExitStack()
        self.name = name
        self.credits = 0

    def __enter__(self) -> "RunningStep":
        self._left.callback(leave_call, enter_call(self._call.call, self.tell))
        self._left.callback(_taking.reset, _taking.set(self))
        return self

    def __exit__(self, *_raised: object) -> None:
        self._left.close()

    def tell(self, note: Note) -> None:
        """Pass it on, and note what it costs."""
        if isinstance(note, CostNote):
            self.credits += note.credits
        if self._outer is None:
            self._call.tell(note)
        else:
            self._outer.tell(note)


_taking: ContextVar[RunningStep | None] = ContextVar("jeton_step", default=None)


class BlockingSteps:
    """The same for a node that is no coroutine, and runs in a thread."""

    def __init__(self, steps: Steps, loop: asyncio.AbstractEventLoop) -> None:
        self._steps = steps
        self._loop = loop

    def run(self, name: str, function: Callable[[], Any]) -> Any:
        """What the function, which is called in this thread, gives or gave."""
        found = self._wait(self._steps.begin(name, threading.get_ident()))
        if isinstance(found, StepResult):
            return self._steps.gave(found)
        with self._steps.taking(name) as spent:
            result = extract_bytes(function(), f"step '{name}'")
        return self._wait(self._steps.finish(name, result, spent))

    def sleep(self, seconds: float, name: str | None = None) -> None:
        """Wait, from when it was first asked for. The function ends here, and is called again when it is time."""
        self._wait(self._steps.rest(seconds, name, threading.get_ident()))

    def _wait(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class Publisher:
    """Publishes events in a node's name. The same node, done again, publishes the same ones: each counts once.

    Those of a step are counted apart: when the step is not taken again, the others keep their numbers.
    """

    def __init__(self, call: ActionCall) -> None:
        self._call = call
        self._counts: Counter[tuple[str | None, str]] = Counter()

    async def __call__(self, event: str, data: object = None) -> None:
        """Publish a named event."""
        if not EVENT.fullmatch(event) or len(event) > LONGEST_EVENT:
            raise ValueError(f"{event!r} cannot name an event: write names joined by dots, like 'order.placed'")
        lifted = extract_bytes(data, "data")
        value = (await keep(lifted, self._call))[0] if isinstance(lifted, ExtractedBytes) else lifted
        size = len(encoded(value))
        if size > MOST_BYTES:
            raise ValueError(f"the event has {size} bytes of data, and {MOST_BYTES} is the most")
        made = self._call.call
        taking = _taking.get()
        step = None if taking is None else taking.name
        self._counts[step, event] += 1
        within = "" if step is None else f"{step}:"
        id = f"{made.idempotency_key}:{within}{event}:{self._counts[step, event]}"
        await self._call.resources.event_sink.emit(ActionEvent(id, event, value, made.run, made.node))


class BlockingPublisher:
    """The same for a node that runs in a thread."""

    def __init__(self, publisher: Publisher, loop: asyncio.AbstractEventLoop) -> None:
        self._publisher = publisher
        self._loop = loop

    def __call__(self, event: str, data: object = None) -> None:
        """Publish a named event."""
        asyncio.run_coroutine_threadsafe(self._publisher(event, data), self._loop).result()
