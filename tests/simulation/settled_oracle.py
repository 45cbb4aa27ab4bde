"""The oracle, with the points that page 2 leaves open read as `settled.md` says. Each has its number there."""

from typing import Any

from tests.simulation.oracle import Oracle, Token
from tests.simulation.oracle_model import RunFailed, abandoned


class SettledOracle(Oracle):
    """One override per settled point, and a way to stop between two timers that are due by the same alarm."""

    @property
    def status(self) -> str:
        """Point 4: what is under way in an abandoned slot does not keep a run running."""
        if self.run.status != "running":
            return self.run.status
        counted = [token for token in self.run.tokens if not abandoned(token.slot)]
        return "running" if any(token.status in ("pending", "dispatched") for token in counted) else "waiting"

    def start(self, input: dict[str, Any], now: int) -> None:
        """Point 1, the other half: what was cancelled before does not start."""
        if self.run.status == "submitted":
            super().start(input, now)

    def cancel(self, reason: str, now: int) -> None:
        """Point 1: a run that is submitted and not started can be cancelled."""
        if self.run.status == "submitted":
            self._end("cancelled", {"type": "cancelled", "message": reason})
        super().cancel(reason, now)

    def ring_until(self, now: int, until: int) -> None:
        """As `alarm`, but only what was due by `until`."""
        while self._alive():
            due = sorted((timer for timer in self._timers() if timer[0] <= until), key=lambda timer: timer[:2])
            if not due:
                return
            self._step(now, due[0][2])

    def _begin(self, token: Token) -> None:
        if abandoned(token.slot):
            token.status = "cancelled"  # point 2: what has not begun has nothing to finish
            return
        try:
            super()._begin(token)
        except RunFailed as failed:
            if failed.error["type"] == "limit_exceeded":
                token.status = "failed"  # point 3: the token that went past the limit is the one that failed
            raise

    def _settle(self) -> None:
        super()._settle()
        for token in self.run.tokens:
            if token.status == "waiting_for_retry" and abandoned(token.slot):
                token.status = "cancelled"  # point 2
