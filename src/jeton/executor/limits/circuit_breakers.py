"""Circuit breakers: an action that fails for everybody is left alone for a while, so that a service can recover.

Without one, all runs that wait for a service come back together, and again, and keep it down.
"""

from collections.abc import Generator
from contextlib import contextmanager

from jeton.executor.clock import Clock
from jeton.model.definition.task import CircuitBreaker


class CircuitOpen(Exception):
    """The call is not made now."""

    def __init__(self, failed: int, wait_ms: int) -> None:
        super().__init__(f"{failed} calls in a row failed, and the next is made in {wait_ms} ms")
        self.wait_ms = wait_ms


class BreakerCall:
    """One call that was let through. `answered`: whether the other side was there; None if nobody waited for it."""

    __slots__ = ("answered",)

    def __init__(self) -> None:
        self.answered: bool | None = None


class CircuitBreakers:
    """The circuits of all actions that have a breaker, by name. Those in which all is well are forgotten."""

    def __init__(self) -> None:
        self._circuits: dict[str, _Circuit] = {}

    @contextmanager
    def call(self, name: str, breaker: CircuitBreaker, clock: Clock) -> Generator[BreakerCall]:
        """Let a call through, and hear what became of it; raises CircuitOpen."""
        circuit = self._circuits.get(name)
        if circuit is not None:
            circuit.let_through(breaker, clock.now())
        attempted = BreakerCall()
        try:
            yield attempted
        finally:
            if attempted.answered is False:
                self._circuits.setdefault(name, _Circuit()).fail(breaker, clock.now())
            elif attempted.answered:
                self._circuits.pop(name, None)
            elif circuit is not None:
                circuit.trying = False


class _Circuit:
    """Calls that failed in a row. When they were enough, one is let through after each time of rest."""

    def __init__(self) -> None:
        self.trying = False
        self._failed = 0
        self._until: int | None = None

    def let_through(self, breaker: CircuitBreaker, now: int) -> None:
        if self._until is None:
            return
        if now < self._until or self.trying:
            raise CircuitOpen(self._failed, max(self._until - now, 0) or breaker.cool_down_ms)
        self.trying = True

    def fail(self, breaker: CircuitBreaker, now: int) -> None:
        self._failed += 1
        if self._failed >= breaker.failures:
            self._until, self.trying = now + breaker.cool_down_ms, False
