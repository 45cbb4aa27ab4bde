"""Durable sub-steps of a node: what was done once is not done again when the node is, after a crash or a retry.

Each has a name, and what it gave is kept under it: by the run and the token, so that it is this node's own. The next
time, a step that was done gives what it gave; one that had only begun is done again, as any task is.
"""

import asyncio
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from jeton.executor.action import ActionCall
from jeton.executor.actions.emit import EVENT, LONGEST_EVENT, MOST_BYTES
from jeton.executor.hints import encoded, plain
from jeton.executor.once import Begun, Done
from jeton.executor.outlet import Emitted
from jeton.model.json import Json

_Value = TypeVar("_Value")


class Steps:
    """The steps of one call of an async node."""

    def __init__(self, call: ActionCall) -> None:
        self._call = call
        self._taken: set[str] = set()
        self._slept = 0

    async def run(self, name: str, function: Callable[[], Awaitable[Any] | Any]) -> Any:
        """What the function gives, as plain JSON, now or the first time; it may be async. Its errors are the node's."""
        found = await self.begin(f"run:{name}")
        if isinstance(found, Done):
            return found.result
        value = function()
        result = plain(await value if inspect.isawaitable(value) else value)
        await self.finish(f"run:{name}", result)
        return result

    async def sleep(self, seconds: float, name: str | None = None) -> None:
        """Wait, from when it was first asked for: a crash does not make it longer. By name, or in the order of calls.

        The node holds its place meanwhile, and its task its time: for longer, give back `_wait`.
        """
        self._slept += 1
        step = f"sleep:{name or self._slept}"
        due = self._call.resources.wall() + round(seconds * 1000)
        found = await self.begin(step, str(due))
        if isinstance(found, Begun):
            left = int(found.call) - self._call.resources.wall()
            if left > 0:
                await self._call.resources.clock.sleep(left)
            await self.finish(step, None)

    async def begin(self, step: str, call: str | None = None) -> Begun | Done:
        """What became of a step: it was done, or it is to be done, now or again."""
        if step in self._taken:
            raise ValueError(f"step {step!r} was taken before in this node: give each a name of its own")
        self._taken.add(step)
        return await self._call.resources.keys.begin(self._key(step), call or self._call.call.idempotency_key)

    async def finish(self, step: str, result: Json) -> None:
        """Keep what a step gave; durable when this returns."""
        await self._call.resources.keys.finish(self._key(step), result, None)

    def _key(self, step: str) -> str:
        made = self._call.call
        return f"step:{made.run}:{made.token}:{step}"


class BlockingSteps:
    """The same for a node that is no coroutine, and runs in a thread."""

    def __init__(self, steps: Steps, loop: asyncio.AbstractEventLoop) -> None:
        self._steps = steps
        self._loop = loop

    def run(self, name: str, function: Callable[[], Any]) -> Any:
        """What the function, which is called in this thread, gives or gave."""
        found = self._wait(self._steps.begin(f"run:{name}"))
        if isinstance(found, Done):
            return found.result
        result = plain(function())
        self._wait(self._steps.finish(f"run:{name}", result))
        return result

    def sleep(self, seconds: float, name: str | None = None) -> None:
        """Wait, from when it was first asked for."""
        self._wait(self._steps.sleep(seconds, name))

    def _wait(self, work: Coroutine[Any, Any, _Value]) -> _Value:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class Publisher:
    """Publishes events in a node's name. The same node, done again, publishes the same ones: each counts once."""

    def __init__(self, call: ActionCall) -> None:
        self._call = call
        self._counts: Counter[str] = Counter()

    async def __call__(self, event: str, data: object = None) -> None:
        """Publish a named event."""
        if not EVENT.fullmatch(event) or len(event) > LONGEST_EVENT:
            raise ValueError(f"{event!r} cannot name an event: write names joined by dots, like 'order.placed'")
        value = plain(data)
        size = len(encoded(value))
        if size > MOST_BYTES:
            raise ValueError(f"the event has {size} bytes of data, and {MOST_BYTES} is the most")
        made = self._call.call
        self._counts[event] += 1
        id = f"{made.idempotency_key}:{event}:{self._counts[event]}"
        await self._call.resources.outlet.emit(Emitted(id, event, value, made.run, made.node))


class BlockingPublisher:
    """The same for a node that runs in a thread."""

    def __init__(self, publisher: Publisher, loop: asyncio.AbstractEventLoop) -> None:
        self._publisher = publisher
        self._loop = loop

    def __call__(self, event: str, data: object = None) -> None:
        """Publish a named event."""
        asyncio.run_coroutine_threadsafe(self._publisher(event, data), self._loop).result()
