"""Alarms of runs, delivered when they are due.

The store's index of waiting runs is read at least once a second, so no alarm depends on what is in memory.
"""

from asyncio import AbstractEventLoop, Event, Lock
from collections.abc import Awaitable, Callable
from heapq import heapify, heappop, heappush

from jeton.hosts.sqlite.loop.periodic import LONGEST_SLEEP_S, SHORTEST_SLEEP_S, repeat, wait_for_event
from jeton.hosts.sqlite.loop.runs import Runs
from jeton.hosts.sqlite.store import Store
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import AlarmRang

HORIZON_MS = 2_000
RUNS_PER_STEP = 50
MOST_UPCOMING = 1_000


class AlarmScheduler:
    """Delivers alarms. `flush` waits until the delivered ones are durable, so that few runs are in memory at once."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        store: Store,
        runs: Runs,
        clock: Callable[[], int],
        flush: Callable[[], Awaitable[None]],
    ) -> None:
        self._loop = loop
        self._store = store
        self._runs = runs
        self._clock = clock
        self._flush = flush
        self._upcoming: list[tuple[int, RunId]] = []
        self._horizon = 0  # alarms before this time are in `_upcoming`
        self._sleeping_until = 0
        self._wake = Event()
        self._lock = Lock()

    def schedule(self, run: RunId, at: int) -> None:
        """Set a run's alarm. One behind the horizon is found in the store later."""
        if at < self._horizon:
            heappush(self._upcoming, (at, run))
            if at < self._sleeping_until:
                self._wake.set()

    async def run(self) -> None:
        """Deliver due alarms until cancelled."""
        await repeat(self._step, "delivering alarms", LONGEST_SLEEP_S)

    async def _step(self) -> None:
        await self.deliver_due()
        await self._deliver_upcoming()

    async def deliver_due(self) -> None:
        """Deliver every alarm that is due in the store, and load the upcoming ones."""
        async with self._lock:
            now = self._clock()
            after = (-1, RunId(""))
            while due := self._store.due(now, after, RUNS_PER_STEP):
                for _, run in due:
                    self._deliver(run, now)
                after = due[-1]
                await self._flush()
            self._load_upcoming(now, after)

    def _load_upcoming(self, now: int, after: tuple[int, RunId]) -> None:
        self._horizon = self._clock() + HORIZON_MS
        self._upcoming = [(at, run) for at, run in self._store.due(self._horizon, after, MOST_UPCOMING) if at > now]
        for actor in self._runs.actors.values():
            if actor.wake is not None and actor.wake < self._horizon:
                self._upcoming.append((actor.wake, actor.run))
        heapify(self._upcoming)

    async def _deliver_upcoming(self) -> None:
        """Deliver upcoming alarms as they become due, for a second."""
        end = self._loop.time() + LONGEST_SLEEP_S
        while self._loop.time() < end:
            await self._sleep(end - self._loop.time())
            now = self._clock()
            for _ in range(RUNS_PER_STEP):
                if not self._upcoming or self._upcoming[0][0] > now:
                    break
                self._deliver(heappop(self._upcoming)[1], now)

    async def _sleep(self, longest_s: float) -> None:
        now = self._clock()
        first = self._upcoming[0][0] if self._upcoming else self._horizon
        wait_s = min(longest_s, max((first - now) / 1000, SHORTEST_SLEEP_S))
        self._sleeping_until = now + round(wait_s * 1000)
        self._wake.clear()
        await wait_for_event(self._wake, wait_s)
        self._sleeping_until = 0

    def _deliver(self, run: RunId, now: int) -> None:
        """Deliver an alarm, unless the run's own state says that it is early or already on its way."""
        try:
            actor = self._runs.find(run)
        except Refused:
            return  # a damaged run, which was logged before
        if actor is None or actor.wake is None or actor.wake > now or actor.alarm_pending or actor.writing:
            return
        actor.alarm_pending = True
        self._runs.deliver(actor, AlarmRang(now))
