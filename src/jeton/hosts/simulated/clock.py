"""Virtual time, which passes only when the clock is advanced."""

EPOCH_MS = 1_700_000_000_000


class ManualClock:
    """A monotonic clock and a wall clock, which can jump, in milliseconds.

    Waits use the monotonic clock; messages are stamped with the wall clock's time.
    """

    def __init__(self, wall_ms: int = EPOCH_MS) -> None:
        self._steady = 0
        self._wall_ahead = wall_ms

    @property
    def steady(self) -> int:
        """Monotonic milliseconds since the start."""
        return self._steady

    def now(self) -> int:
        """The wall clock's time."""
        return self._steady + self._wall_ahead

    def pass_to(self, steady: int) -> None:
        """Let time pass up to a monotonic time, unless it is in the past."""
        self._steady = max(self._steady, steady)

    def advance(self, by_ms: int) -> None:
        """Let this much time pass."""
        self._steady += max(0, by_ms)

    def jump(self, by_ms: int) -> None:
        """Set the wall clock forwards or backwards; no time passes."""
        self._wall_ahead += by_ms

    def steady_when(self, wall_ms: int) -> int:
        """The monotonic time when the wall clock reaches a time, if it does not jump; now, if it has."""
        return max(self._steady, wall_ms - self._wall_ahead)
