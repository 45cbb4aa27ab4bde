"""Circuit breakers: after too many failures in a row an action is not called for a while, so that a service recovers.

Without one, all runs that wait for a service retry together, and keep it overloaded.
"""

from collections.abc import Generator
from contextlib import contextmanager

from jeton.executor.clock import Clock
from jeton.model.definition.task import CircuitBreaker


class CircuitOpen(Exception):
    """The circuit is open, so the call is not made."""

    def __init__(self, failed: int, wait_ms: int) -> None:
        super().__init__(f"{failed} calls in a row failed; the next is made in {wait_ms} ms")
        self.wait_ms = wait_ms


class BreakerCall:
    """A permitted call. `responded`: whether the service responded; None if the call was abandoned."""

    __slots__ = ("responded",)

    def __init__(self) -> None:
        self.responded: bool | None = None


class CircuitBreakers:
    """The circuits of all actions with a breaker, by name. Circuits without failures are not kept."""

    def __init__(self) -> None:
        self._circuits: dict[str, _Circuit] = {}

    @contextmanager
    def call(self, name: str, breaker: CircuitBreaker, clock: Clock) -> Generator[BreakerCall]:
        """Permit a call and record its outcome. Raises CircuitOpen."""
        circuit = self._circuits.get(name)
        if circuit is not None:
            circuit.permit(breaker, clock.now())
        permitted = BreakerCall()
        try:
            yield permitted
        finally:
            if permitted.responded is False:
                self._circuits.setdefault(name, _Circuit()).fail(breaker, clock.now())
            elif permitted.responded:
                self._circuits.pop(name, None)
            elif circuit is not None:
                circuit.trying = False


class _Circuit:
    """Consecutive failures of an action. Once there are enough, one call is permitted after each cool-down."""

    def __init__(self) -> None:
        self.trying = False
        self._failed = 0
        self._open_until: int | None = None

    def permit(self, breaker: CircuitBreaker, now: int) -> None:
        if self._open_until is None:
            return
        if now < self._open_until or self.trying:
            raise CircuitOpen(self._failed, max(self._open_until - now, 0) or breaker.cool_down_ms)
        self.trying = True

    def fail(self, breaker: CircuitBreaker, now: int) -> None:
        self._failed += 1
        if self._failed >= breaker.failures:
            self._open_until, self.trying = now + breaker.cool_down_ms, False
