"""Virtual time, which passes only when the clock is advanced."""

EPOCH_MS = 1_700_000_000_000


class ManualClock:
    """A clock that passes evenly, and a wall clock, which can jump, in milliseconds.

    Messages are stamped with the time that passes evenly. It is the wall clock's time when a process starts.
    """

    def __init__(self, wall_ms: int = EPOCH_MS) -> None:
        self._steady = 0
        self._begin = wall_ms
        self._wall_begin = wall_ms

    @property
    def steady(self) -> int:
        """Milliseconds since the start."""
        return self._steady

    def now(self) -> int:
        """The time of messages."""
        return self._steady + self._begin

    def wall(self) -> int:
        """The wall clock's time."""
        return self._steady + self._wall_begin

    @property
    def ahead(self) -> int:
        """How far the time of messages is ahead of the wall clock, because the wall clock was set."""
        return self._begin - self._wall_begin

    def pass_to(self, steady: int) -> None:
        """Let time pass up to a monotonic time, unless it is in the past."""
        self._steady = max(self._steady, steady)

    def advance(self, by_ms: int) -> None:
        """Let this much time pass."""
        self._steady += max(0, by_ms)

    def jump(self, by_ms: int) -> None:
        """Set the wall clock forwards or backwards; no time passes."""
        self._wall_begin += by_ms

    def restart(self) -> None:
        """Take the time of messages from the wall clock, as a new process does."""
        self._begin = self._wall_begin

    def steady_when(self, wall_ms: int) -> int:
        """The monotonic time when the wall clock reaches a time, if it does not jump; now, if it has."""
        return max(self._steady, wall_ms - self._wall_begin)
