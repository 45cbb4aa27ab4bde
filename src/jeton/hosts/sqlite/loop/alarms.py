"""When runs want to be woken, and who is woken now.

The index of parked runs is asked again and again, so that no alarm depends on having been remembered. Nobody sleeps for
longer than a second, by a clock that cannot be set; what the clock on the wall then says is what counts.
"""

import asyncio
import logging
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable
from contextlib import suppress
from heapq import heapify, heappop, heappush

from jeton.hosts.sqlite.loop.runs import Runs
from jeton.hosts.sqlite.store import Store
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import AlarmRang

LONGEST_SLEEP_S = 1.0
SHORTEST_SLEEP_S = 0.002
SOON_MS = 2_000
AT_ONCE = 50
SOON_AT_ONCE = 1_000

_log = logging.getLogger("jeton.store")


class Alarms:
    """One per owner."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        store: Store,
        runs: Runs,
        clock: Callable[[], int],
        breath: Callable[[], Awaitable[None]],
    ) -> None:
        self._loop = loop
        self._store = store
        self._runs = runs
        self._clock = clock
        self._breath = breath  # lets others have their turn, and what was rung become durable
        self._soon: list[tuple[int, RunId]] = []
        self._horizon = 0  # what is due before this is in `_soon`
        self._sleeping_until = 0
        self._earlier = asyncio.Event()
        self._looking = asyncio.Lock()

    def note(self, run: RunId, at: int) -> None:
        """A run wants to be woken. One that is far off is found when its time comes near."""
        if at < self._horizon:
            heappush(self._soon, (at, run))
            if at < self._sleeping_until:
                self._earlier.set()

    async def keep(self) -> None:
        """Ring what is due, for ever."""
        while True:
            try:
                await self.look()
                await self._ring_for_a_second()
            except Exception:  # whatever it was, it concerns some run and not all of them
                _log.exception("alarms are looked at again in a moment")
                await asyncio.sleep(LONGEST_SLEEP_S)

    async def look(self) -> None:
        """Everything that is due, by what the store says; and what will be soon."""
        async with self._looking:
            await self._look()

    async def _look(self) -> None:
        now = self._clock()
        after = (-1, RunId(""))
        while due := self._store.due(now, after, AT_ONCE):
            for _, run in due:
                self._ring(run, now)
            after = due[-1]
            await self._breath()
        self._horizon = self._clock() + SOON_MS
        self._soon = [(at, run) for at, run in self._store.due(self._horizon, after, SOON_AT_ONCE) if at > now]
        for actor in self._runs.actors.values():
            if actor.wake is not None and actor.wake < self._horizon:
                self._soon.append((actor.wake, actor.run))
        heapify(self._soon)

    async def _ring_for_a_second(self) -> None:
        end = self._loop.time() + LONGEST_SLEEP_S
        while self._loop.time() < end:
            await self._sleep(end - self._loop.time())
            now = self._clock()
            for _ in range(AT_ONCE):
                if not self._soon or self._soon[0][0] > now:
                    break
                self._ring(heappop(self._soon)[1], now)

    async def _sleep(self, longest_s: float) -> None:
        now = self._clock()
        first = self._soon[0][0] if self._soon else self._horizon
        wait_s = min(longest_s, max((first - now) / 1000, SHORTEST_SLEEP_S))
        self._sleeping_until = now + round(wait_s * 1000)
        self._earlier.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):  # wait_for may swallow being cancelled, and closing waits for that
                await self._earlier.wait()
        self._sleeping_until = 0

    def _ring(self, run: RunId, now: int) -> None:
        """Never early, and not twice: the run's own wish is asked once more."""
        try:
            actor = self._runs.find(run)
        except Refused:
            return  # it is damaged, which was said before
        if actor is None or actor.wake is None or actor.wake > now or actor.ringing or actor.writing:
            return
        actor.ringing = True
        self._runs.tell(actor, AlarmRang(now))
