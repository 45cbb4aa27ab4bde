"""Alarms of runs, delivered when they are due.

The store's index of waiting runs is read at least once a second, so no alarm depends on what is in memory. The index
has the smallest time that a run waits for, whichever clock that time follows; the run's own timers say whether it is
due. The two clocks differ only after the system clock was set.
"""

import logging
from asyncio import AbstractEventLoop, Event, Lock
from collections.abc import Awaitable, Callable
from heapq import heapify, heappop, heappush

from jeton.apply.timers import NextDue
from jeton.hosts.sql.loop.periodic import LONGEST_SLEEP_S, SHORTEST_SLEEP_S, repeat, wait_for_event
from jeton.hosts.sql.loop.runs import Runs
from jeton.hosts.sql.store import Store
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import AlarmRang

HORIZON_MS = 2_000
RUNS_PER_STEP = 50
MOST_UPCOMING = 1_000
JUMP_MS = 1_000  # a smaller difference between the clocks is not reported

_log = logging.getLogger("jeton.store")


class AlarmScheduler:
    """Delivers alarms. `flush` waits until the delivered ones are durable, so that few runs are in memory at once."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        store: Store,
        runs: Runs,
        clock: Callable[[], int],
        wall: Callable[[], int],
        flush: Callable[[], Awaitable[None]],
    ) -> None:
        self._loop = loop
        self._store = store
        self._runs = runs
        self._clock = clock
        self._wall = wall
        self._flush = flush
        self._upcoming: list[tuple[int, RunId]] = []
        self._horizon = 0  # alarms before this time are in `_upcoming`
        self._ahead = 0  # how far the clock is ahead of the system clock
        self._reported = 0  # the difference that was reported last
        self._early: dict[RunId, tuple[int, NextDue]] = {}  # runs that the index gave and that were not due
        self._sleeping_until = 0
        self._wake = Event()
        self._lock = Lock()

    def schedule(self, run: RunId, at: int) -> None:
        """Set a run's alarm. One behind the horizon is found in the store later."""
        if self._early:
            self._early.pop(run, None)
        first = at if self._ahead >= 0 else at + self._ahead
        if first < self._horizon:
            heappush(self._upcoming, (first, run))
            if first < self._sleeping_until:
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
            now = self._read_clocks()
            latest = now - min(self._ahead, 0)  # by either clock
            after = (-1, RunId(""))
            while due := self._store.due(latest, after, RUNS_PER_STEP):
                for at, run in due:
                    if not self._is_early(run, at, now):
                        self._deliver(run, now)
                after = due[-1]
                await self._flush()
            self._load_upcoming(latest, after)

    def _read_clocks(self) -> int:
        """The time; and how far it is ahead of the system clock, for whoever asks next."""
        now = self._clock()
        self._ahead = now - self._wall()
        if abs(self._ahead - self._reported) > JUMP_MS:
            set_by, self._reported = self._reported - self._ahead, self._ahead
            _log.warning("the system clock was set by %.1f s; recorded times follow at the next opening", set_by / 1000)
        return now

    def _is_early(self, run: RunId, at: int, now: int) -> bool:
        """Whether the run was looked at before and cannot be due: loading it again would be in vain."""
        known = self._early.get(run)
        return known is not None and known[0] == at and not known[1].is_due(now, now - self._ahead)

    def _load_upcoming(self, latest: int, after: tuple[int, RunId]) -> None:
        """Load the alarms up to the horizon. Each is tried at the first time at which it may be due."""
        self._horizon, earlier = self._clock() + HORIZON_MS, min(self._ahead, 0)
        stored = self._store.due(self._horizon - earlier, after, MOST_UPCOMING)
        self._upcoming = [(at + earlier, run) for at, run in stored if at > latest]
        self._upcoming += [(due.at(self._ahead), run) for run, (_, due) in self._early.items()]
        for actor in self._runs.actors.values():
            if actor.wake is not None and actor.wake + earlier < self._horizon:
                self._upcoming.append((actor.wake + earlier, actor.run))
        heapify(self._upcoming)

    async def _deliver_upcoming(self) -> None:
        """Deliver upcoming alarms as they become due, for a second."""
        end = self._loop.time() + LONGEST_SLEEP_S
        while self._loop.time() < end:
            await self._sleep(end - self._loop.time())
            now = self._read_clocks()
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
        self._early.pop(run, None)
        if actor is None or actor.wake is None or actor.alarm_pending or actor.writing:
            return
        wall, due = now - self._ahead, actor.live.timers.next_each()
        if due.is_due(now, wall) or actor.wake not in due:  # an alarm that the state does not know is put right
            actor.alarm_pending = True
            self._runs.deliver(actor, AlarmRang(now, wall))
            return
        self._early[run] = actor.wake, due
        if due.at(self._ahead) < self._horizon:
            heappush(self._upcoming, (due.at(self._ahead), run))
