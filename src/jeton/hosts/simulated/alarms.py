"""Alarms of a simulated host: one per run, never early."""

from collections.abc import Callable

from jeton.hosts.simulated.agenda import Act
from jeton.hosts.simulated.clock import ManualClock
from jeton.model.ids import RunId


class Alarms:
    """The alarms of one process. A crash loses them, and recovery sets them again."""

    def __init__(self, clock: ManualClock, put: Callable[[int, Act], None], ring: Callable[[RunId], object]) -> None:
        self._clock = clock
        self._put = put
        self._tell_ring = ring
        self._alarms: dict[RunId, int] = {}

    def wake(self, run: RunId, at: int | None) -> None:
        """Set the alarm of a run; None clears it."""
        if at is None:
            self._alarms.pop(run, None)
        elif self._alarms.get(run) != at:
            self._alarms[run] = at
            self._set(run, at)

    def clock_was_set(self) -> None:
        """Set all alarms by the new time."""
        for run, at in self._alarms.items():
            self._set(run, at)

    def _set(self, run: RunId, at: int) -> None:
        self._put(self._clock.steady_when(at) - self._clock.steady, lambda: self._ring(run, at))

    def _ring(self, run: RunId, at: int) -> None:
        """Ring, unless the alarm was changed, or the wall clock was set back in the meantime."""
        if self._alarms.get(run) == at and self._clock.now() >= at:
            del self._alarms[run]
            self._tell_ring(run)
