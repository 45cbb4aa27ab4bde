"""Virtual time: it stands still until somebody moves it."""

EPOCH_MS = 1_700_000_000_000


class ManualClock:
    """Two clocks in one, in whole milliseconds: a steady one that only grows, and the wall's, which can jump.

    Whoever waits counts on the steady one; what is stamped on a message is the wall's, as on any real machine.
    """

    def __init__(self, wall_ms: int = EPOCH_MS) -> None:
        self._steady = 0
        self._wall_ahead = wall_ms

    @property
    def steady(self) -> int:
        """How long this world has existed."""
        return self._steady

    def now(self) -> int:
        """What the clock on the wall says."""
        return self._steady + self._wall_ahead

    def pass_to(self, steady: int) -> None:
        """Let time pass until then. It never runs backwards."""
        self._steady = max(self._steady, steady)

    def advance(self, by_ms: int) -> None:
        """Let this much time pass."""
        self._steady += max(0, by_ms)

    def jump(self, by_ms: int) -> None:
        """Somebody sets the clock on the wall, forwards or backwards; no time passes."""
        self._wall_ahead += by_ms

    def steady_when(self, wall_ms: int) -> int:
        """When the wall will say this, if nobody sets it in between; now, if it already does."""
        return max(self._steady, wall_ms - self._wall_ahead)
