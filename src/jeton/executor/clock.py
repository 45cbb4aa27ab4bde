"""Time, as running a task needs it: waiting, and not waiting for ever."""

import asyncio
import time
from collections.abc import Coroutine, Generator
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

Value = TypeVar("Value")


class TimedOut(Exception):
    """The work was given a time, and did not finish in it."""


class Clock(Protocol):
    """Milliseconds on a clock that never jumps."""

    def now(self) -> int:
        """How late it is; only differences mean anything."""
        ...

    async def sleep(self, ms: int) -> None:
        """Wait this long."""
        ...

    async def within(self, ms: int, work: Coroutine[Any, Any, Value]) -> Value:
        """What the work gives; raises TimedOut, and ends the work, if that takes longer."""
        ...


class LoopClock:
    """The event loop's own time. `within` must be called in an asyncio task, which is what it interrupts."""

    def now(self) -> int:
        return time.monotonic_ns() // 1_000_000

    async def sleep(self, ms: int) -> None:
        await asyncio.sleep(ms / 1000)

    async def within(self, ms: int, work: Coroutine[Any, Any, Value]) -> Value:
        begun = _Begun(work)
        if begun.done:
            return begun.value
        limit = asyncio.timeout(ms / 1000)
        try:
            async with limit:
                value = await begun
        except TimeoutError:
            if limit.expired():
                raise TimedOut from None
            raise
        if limit.expired():
            raise TimedOut  # it would not be interrupted, and what it gives comes too late
        return value


class _Begun(Generic[Value]):
    """Work taken as far as its first wait: setting a timer costs more than most of what never waits."""

    __slots__ = ("_waiting", "_work", "done", "value")

    value: Value

    def __init__(self, work: Coroutine[Any, Any, Value]) -> None:
        self._work = work
        try:
            self._waiting = work.send(None)
            self.done = False
        except StopIteration as end:
            self.done, self.value = True, end.value

    def __await__(self) -> Generator[Any, Any, Value]:
        """What is left of the work: all that it waits for is passed on, and so is all that comes back."""
        waiting = self._waiting
        while True:
            try:
                sent = yield waiting
            except GeneratorExit:
                self._work.close()
                raise
            except BaseException as error:
                go_on = partial(self._work.throw, error)
            else:
                go_on = partial(self._work.send, sent)
            try:
                waiting = go_on()
            except StopIteration as end:
                value: Value = end.value
                return value


class _Expired(BaseException):
    """Passes through the work like a cancellation, up to whoever set the limit."""

    def __init__(self, limit: object) -> None:
        self.limit = limit


class VirtualClock:
    """Time that passes only by sleeping, and then at once: a task run on it never suspends."""

    def __init__(self, now_ms: int = 0) -> None:
        self._now = now_ms
        self._limits: list[tuple[int, object]] = []

    def now(self) -> int:
        return self._now

    async def sleep(self, ms: int) -> None:
        wakes = self._now + ms
        first = min(self._limits, key=lambda limit: limit[0], default=None)
        if first is not None and first[0] < wakes:
            self._now = max(self._now, first[0])
            raise _Expired(first[1])
        self._now = wakes

    async def within(self, ms: int, work: Coroutine[Any, Any, Value]) -> Value:
        limit = object()
        self._limits.append((self._now + ms, limit))
        try:
            return await work
        except _Expired as expired:
            if expired.limit is limit:
                raise TimedOut from None
            raise
        finally:
            self._limits.pop()
