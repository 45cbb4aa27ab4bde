"""Concurrency and rate limits of actions, fair between runs."""

import asyncio
from collections.abc import AsyncGenerator, Hashable
from contextlib import AsyncExitStack, asynccontextmanager
from math import ceil

import msgspec

from jeton.executor.clock import Clock
from jeton.executor.limits.lane import Lane
from jeton.model.ids import RunId

MAX_TRACKED_RATES = 1000


class ActionLimits(msgspec.Struct, frozen=True):
    """The limits in an action's `execution` and in the project's settings; None is no limit."""

    name: str
    kind: str
    concurrency: int | None = None
    rate_per_s: float | None = None
    concurrency_of_kind: int | None = None


class _Waiter:
    """A call that asked for a place."""

    __slots__ = ("has_place", "ready")

    def __init__(self) -> None:
        self.has_place = False
        self.ready: asyncio.Future[None] | None = None  # created only if the call has to wait


class _FairSemaphore:
    """A semaphore that is fair between runs."""

    def __init__(self, places: int) -> None:
        self._lane: Lane[_Waiter] = Lane(places)
        self._users = 0

    @property
    def empty(self) -> bool:
        return self._users == 0

    async def enter(self, run: RunId) -> None:
        waiter = _Waiter()
        self._users += 1
        self._lane.put(run, waiter)
        self._wake_waiters()
        if waiter.has_place:
            return
        waiter.ready = asyncio.get_running_loop().create_future()
        try:
            await waiter.ready
        except BaseException:
            if waiter.has_place:
                self.leave()  # the place was given and the call cancelled at the same time
            else:
                self._users -= 1
            raise

    def leave(self) -> None:
        self._users -= 1
        self._lane.release()
        self._wake_waiters()

    def _wake_waiters(self) -> None:
        while (waiter := self._lane.take()) is not None:
            if waiter.ready is None:
                waiter.has_place = True
            elif waiter.ready.cancelled():
                self._lane.release()
            else:
                waiter.has_place = True
                waiter.ready.set_result(None)


class Limiter:
    """All limits in use, by name. Unused ones are not kept."""

    def __init__(self) -> None:
        self._semaphores: dict[Hashable, _FairSemaphore] = {}
        self._due: dict[Hashable, float] = {}

    @asynccontextmanager
    async def hold(self, name: Hashable, places: int, run: RunId) -> AsyncGenerator[None]:
        """Hold one of a number of places for the duration of the block."""
        key = (name, places)
        semaphore = self._semaphores.setdefault(key, _FairSemaphore(places))
        await semaphore.enter(run)
        try:
            yield
        finally:
            semaphore.leave()
            if semaphore.empty:
                self._semaphores.pop(key, None)

    @asynccontextmanager
    async def call(self, limits: ActionLimits, run: RunId, clock: Clock) -> AsyncGenerator[None]:
        """Hold all places that a call needs. That of the kind is taken last, so that no waiting call occupies it."""
        async with AsyncExitStack() as held:
            if limits.concurrency is not None:
                await held.enter_async_context(self.hold(("action", limits.name), limits.concurrency, run))
            if limits.rate_per_s is not None:
                await self.wait_for_rate(limits.name, limits.rate_per_s, run, clock)
            if limits.concurrency_of_kind is not None:
                await held.enter_async_context(self.hold(("kind", limits.kind), limits.concurrency_of_kind, run))
            yield

    async def wait_for_rate(self, name: Hashable, rate_per_s: float, run: RunId, clock: Clock) -> None:
        """Wait until the rate allows another call. Only one at a time waits for the clock, so the order is kept."""
        async with self.hold(("rate", name), 1, run):
            key = (name, rate_per_s)
            due = self._due.get(key, 0.0)
            if due > clock.now():
                await clock.sleep(ceil(due - clock.now()))
            self._due[key] = max(due, clock.now()) + 1000 / rate_per_s
            if len(self._due) > MAX_TRACKED_RATES:
                now = clock.now()
                self._due = {name: due for name, due in self._due.items() if due > now}
