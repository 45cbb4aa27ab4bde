"""Sleeping and timeouts, on a real or a virtual clock."""

import asyncio
import time
from collections.abc import Coroutine, Generator
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

Value = TypeVar("Value")


class TimedOut(Exception):
    """The work did not finish within its timeout."""


class Clock(Protocol):
    """A monotonic clock."""

    def now(self) -> int:
        """Monotonic milliseconds."""
        ...

    async def sleep(self, ms: int) -> None:
        """Wait."""
        ...

    async def within(self, ms: int, work: Coroutine[Any, Any, Value]) -> Value:
        """The result of the work. Cancels it and raises TimedOut if it takes longer."""
        ...


class LoopClock:
    """Real time. `within` must be called in an asyncio task, because it interrupts that task."""

    def now(self) -> int:
        return time.monotonic_ns() // 1_000_000

    async def sleep(self, ms: int) -> None:
        await asyncio.sleep(ms / 1000)

    async def within(self, ms: int, work: Coroutine[Any, Any, Value]) -> Value:
        try:
            waiting = work.send(None)
        except StopIteration as end:  # most work never waits, and then needs no timer
            done: Value = end.value
            return done
        limit = asyncio.timeout(ms / 1000)
        try:
            async with limit:
                value = await _StartedWork(work, waiting)
        except TimeoutError:
            if limit.expired():
                raise TimedOut from None
            raise
        if limit.expired():
            raise TimedOut  # it caught the cancellation, and its result is too late
        return value


class _StartedWork(Generic[Value]):
    """Work that has run up to its first wait."""

    __slots__ = ("_waiting", "_work")

    def __init__(self, work: Coroutine[Any, Any, Value], waiting: Any) -> None:
        self._work = work
        self._waiting = waiting

    def __await__(self) -> Generator[Any, Any, Value]:
        """Run the rest of the work, passing on what it awaits and what is sent or thrown in."""
        waiting = self._waiting
        while True:
            try:
                sent = yield waiting
            except GeneratorExit:
                self._work.close()
                raise
            except BaseException as error:
                resume = partial(self._work.throw, error)
            else:
                resume = partial(self._work.send, sent)
            try:
                waiting = resume()
            except StopIteration as end:
                value: Value = end.value
                return value


class _Expired(BaseException):
    """Ends the work like a cancellation, up to the `within` that set the timeout."""

    def __init__(self, limit: object) -> None:
        self.limit = limit


class VirtualClock:
    """Virtual time: it advances only by sleeping, and at once, so that a task never suspends."""

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
