"""Turns: how many calls of an action run at a time, and how many begin in a second. Fair between runs, as lanes are."""

import asyncio
from collections.abc import AsyncGenerator, Hashable
from contextlib import AsyncExitStack, asynccontextmanager
from math import ceil

import msgspec

from jeton.executor.clock import Clock
from jeton.executor.limits.lane import Lane
from jeton.model.ids import RunId

MOST_PACES = 1000


class ActionLimits(msgspec.Struct, frozen=True):
    """What an action's `execution` and the project's settings allow; None is no limit."""

    name: str
    kind: str
    concurrency: int | None = None
    rate_per_s: float | None = None
    concurrency_of_kind: int | None = None


class _Waiter:
    """Somebody who wants a place."""

    __slots__ = ("called", "has_place")

    def __init__(self) -> None:
        self.has_place = False
        self.called: asyncio.Future[None] | None = None  # only for one who has to wait: most do not


class _FairSemaphore:
    """A number of places, and who waits for one."""

    def __init__(self, places: int) -> None:
        self._lane: Lane[_Waiter] = Lane(places)
        self._present = 0

    @property
    def empty(self) -> bool:
        return self._present == 0

    async def enter(self, run: RunId) -> None:
        ticket = _Waiter()
        self._present += 1
        self._lane.put(run, ticket)
        self._call()
        if ticket.has_place:
            return
        ticket.called = asyncio.get_running_loop().create_future()
        try:
            await ticket.called
        except BaseException:
            if ticket.has_place:
                self.leave()  # it was called and cancelled in the same moment
            else:
                self._present -= 1
            raise

    def leave(self) -> None:
        self._present -= 1
        self._lane.leave()
        self._call()

    def _call(self) -> None:
        while (ticket := self._lane.take()) is not None:
            if ticket.called is None:
                ticket.has_place = True
            elif ticket.called.cancelled():
                self._lane.leave()
            else:
                ticket.has_place = True
                ticket.called.set_result(None)


class Limiter:
    """Every limit in use, by its name. What nobody uses is forgotten."""

    def __init__(self) -> None:
        self._turns: dict[Hashable, _FairSemaphore] = {}
        self._due: dict[Hashable, float] = {}

    @asynccontextmanager
    async def turn(self, name: Hashable, places: int, run: RunId) -> AsyncGenerator[None]:
        """Hold one of a number of places while the block lasts."""
        key = (name, places)
        turns = self._turns.setdefault(key, _FairSemaphore(places))
        await turns.enter(run)
        try:
            yield
        finally:
            turns.leave()
            if turns.empty:
                self._turns.pop(key, None)

    @asynccontextmanager
    async def call(self, limits: ActionLimits, run: RunId, clock: Clock) -> AsyncGenerator[None]:
        """Hold what a call needs. The widest place comes last: whoever holds it works, and keeps nobody waiting."""
        async with AsyncExitStack() as held:
            if limits.concurrency is not None:
                await held.enter_async_context(self.turn(("action", limits.name), limits.concurrency, run))
            if limits.rate_per_s is not None:
                await self.pace(limits.name, limits.rate_per_s, run, clock)
            if limits.concurrency_of_kind is not None:
                await held.enter_async_context(self.turn(("kind", limits.kind), limits.concurrency_of_kind, run))
            yield

    async def pace(self, name: Hashable, rate_per_s: float, run: RunId, clock: Clock) -> None:
        """Wait until the next call may begin. Only the one whose turn it is watches the clock: nobody is passed."""
        async with self.turn((name, "pace"), 1, run):
            key = (name, rate_per_s)
            due = self._due.get(key, 0.0)
            if due > clock.now():
                await clock.sleep(ceil(due - clock.now()))
            self._due[key] = max(due, clock.now()) + 1000 / rate_per_s
            if len(self._due) > MOST_PACES:
                now = clock.now()
                self._due = {name: due for name, due in self._due.items() if due > now}
