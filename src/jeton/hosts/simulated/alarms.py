"""Alarms of a simulated host: one per run, never early."""

from collections.abc import Callable

from jeton.apply.timers import NextDue, Timers
from jeton.hosts.simulated.agenda import Act
from jeton.hosts.simulated.clock import ManualClock
from jeton.model.ids import RunId


class Alarms:
    """The alarms of one process. A crash loses them, and recovery sets them again."""

    def __init__(self, clock: ManualClock, put: Callable[[int, Act], None], ring: Callable[[RunId], object]) -> None:
        self._clock = clock
        self._put = put
        self._tell_ring = ring
        self._alarms: dict[RunId, NextDue] = {}

    def wake(self, run: RunId, timers: Timers) -> None:
        """Set the alarm of a run by what it waits for, or clear it."""
        due = timers.next_each()
        if not due.is_set:
            self._alarms.pop(run, None)
        elif self._alarms.get(run) != due:
            self._alarms[run] = due
            self._set(run, due)

    def clock_was_set(self) -> None:
        """Set all alarms by the new time."""
        for run, due in self._alarms.items():
            self._set(run, due)

    def _set(self, run: RunId, due: NextDue) -> None:
        after_ms = due.at(self._clock.ahead) - self._clock.now()
        self._put(max(0, after_ms), lambda: self._ring(run, due))

    def _ring(self, run: RunId, due: NextDue) -> None:
        """Ring, unless the alarm was changed, or the wall clock was set back in the meantime."""
        if self._alarms.get(run) == due and due.is_due(self._clock.now(), self._clock.wall()):
            del self._alarms[run]
            self._tell_ring(run)
