"""The oracle with the rules that it does not follow by itself, each citing docs/semantics.

Where the oracle still differs, the comparison leaves the case out:

- `max_tokens` counts every token that has not ended in the oracle, and only those under way or parked in the engine.
  The oracle is not given the limit; the invariants check the count after every commit.
- Inner slots that reach two joins of one outer group: the engine lays all their outputs over the outer slot, the oracle
  only those that reached the join at which the slot arrived. The run is not compared from there on.
- A condition `true` is possible and not certain for the oracle when it looks for the join of an empty group, so the
  grammar writes conditions that always hold as `input.n >= 0`.
- `_branch.output` as a target outside of every branch is undefined, so the grammar makes no such node.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from tests.simulation.oracle.model import FanIn, RunFailed, abandoned, chain
from tests.simulation.oracle.oracle import Oracle, Timer, Token, is_point
from tests.simulation.oracle.slots import end_slot, one_consequence

Result = TypeVar("Result")
MOST_DELIVERIES = 5


class SettledOracle(Oracle):
    """One override per rule, and the tasks' deadlines and deliveries, which whoever drives the oracle tells it of."""

    def __init__(self, workflow: dict[str, Any], tasks: dict[str, Any]) -> None:
        super().__init__(workflow, tasks)
        self._since: dict[int, int] = {}  # when each timer was made; 0 is the run's own
        self._left_alone: dict[Token, str] = {}

    @property
    def status(self) -> str:
        """token-graphs.md#abandoned-slots: what is under way in an abandoned slot does not keep a run running."""
        if self.run.status != "running":
            return self.run.status
        counted = [token for token in self.run.tokens if not abandoned(token.slot)]
        return "running" if any(token.status in ("pending", "dispatched") for token in counted) else "waiting"

    def start(self, input: dict[str, Any], now: int, facts: dict[str, Any] | None = None) -> None:
        """token-graphs.md#starting: what was cancelled before does not start."""
        if self.run.status == "submitted":
            super().start(input, now, facts)

    def begin(self, key: int, now: int) -> None:
        """tasks-and-actions.md#four-timeouts: the time of a task runs from when a worker began it."""
        token = self._token_called(key)
        if token is not None and not token.begun:
            token.begun, token.since = True, now

    def lose(self, key: int, now: int) -> None:
        """tasks-and-actions.md#deliveries: the fifth delivery without an answer is a failure."""
        token = self._token_called(key)
        if token is None:
            return
        if token.deliveries < MOST_DELIVERIES:
            token.begun, token.since, token.deliveries = False, now, token.deliveries + 1
        else:
            self.fail(key, {"step": None, "type": "worker_lost", "message": "nobody answered", "retry": False}, now)

    def cancel(self, reason: str, now: int) -> None:
        """token-graphs.md#starting: a run that is submitted and not started can be cancelled."""
        if self.run.status == "submitted":
            self._end("cancelled", {"type": "cancelled", "message": reason})
        super().cancel(reason, now)

    def _timers(self) -> list[Timer]:
        """token-graphs.md#timers: of those due together, who waited first, then tokens before fan-ins, by number.

        The deadline of a task is a timer as any other; it waits since a worker began, or since it was handed out."""
        run = self.run
        if not self._alive():
            return []
        timers: list[tuple[int, int, int, int, Callable[[], None], bool]] = []
        if run.due is not None:
            timers.append((run.due, self._since[0], 0, 0, self._run_timed_out, False))
        for token in run.tokens:
            if token.due is not None and token.status in ("waiting_for_timer", "waiting_for_retry"):
                point = is_point(run, token)
                timers.append((token.due, self._since[token.timer], 1, token.id, self._ring(token), point))
            elif token.status == "dispatched":
                due = token.since + token.allowed_ms
                timers.append((due, token.since, 1, token.id, self._ring_task(token), False))
        for group in run.groups:
            for fan_in in group.fan_ins if all(slot.state == "live" for slot in chain(group.outer)) else ():
                if fan_in.closed is None and fan_in.due is not None and fan_in.first_arrival is not None:
                    since = self._since[fan_in.first_arrival]
                    timers.append((fan_in.due, since, 2, group.id, self._ring_fan_in(fan_in), False))
        timers.sort(key=lambda timer: timer[:4])
        return [(due, rank, ring, point) for rank, (due, _, _, _, ring, point) in enumerate(timers)]

    def _ring_task(self, token: Token) -> Callable[[], None]:
        def ring() -> None:
            if token.begun:
                message = f"not done after {token.allowed_ms} ms"
                self._attempt_failed(token, {"step": None, "type": "timed_out", "message": message})
            else:
                # tasks-and-actions.md#four-timeouts: no worker began it, so it is handed out again.
                token.since = self.run.now

        return ring

    def _attempt_failed(self, token: Token, failure: dict[str, Any]) -> None:
        super()._attempt_failed(token, failure)
        self._left_alone.pop(token, None)

    def _ring_fan_in(self, fan_in: FanIn) -> Callable[[], None]:
        ring = super()._ring_fan_in(fan_in)

        def ring_for_all() -> None:
            if fan_in.sync.on_timeout == "fail":
                for slot in fan_in.group.slots:
                    if slot.state == "arrived":
                        end_slot(self.run, slot, "timed_out")  # token-graphs.md#fan-in-timeouts
            ring()

        return ring_for_all

    def _step(self, now: int, action: Callable[[], Any]) -> None:
        super()._step(now, lambda: self._leaving_alone(action))
        for number in range(len(self._since), self.run.timers + 1):
            self._since[number] = now

    def _settle(self) -> None:
        """As the oracle's own, with each consequence taken by itself."""
        run = self.run
        while self._alive():
            while self._leaving_alone(lambda: one_consequence(run)):
                self._stop_what_has_not_begun()
            self._stop_what_has_not_begun()
            if all(token.ended or abandoned(token.slot) for token in run.tokens):
                self._complete()
                return
            ready = [token for token in run.tokens if token.status == "pending"]
            if not ready:
                return
            self._begin_within_limits(ready[0])

    def _stop_what_has_not_begun(self) -> None:
        """token-graphs.md#abandoned-slots: in an abandoned slot, what has not begun has nothing to finish."""
        for token in self.run.tokens:
            if token.status in ("pending", "waiting_for_retry", "waiting_for_siblings") and abandoned(token.slot):
                token.status = "cancelled"

    def _begin_within_limits(self, token: Token) -> None:
        try:
            self._leaving_alone(lambda: self._begin(token))
        except RunFailed as failed:
            if failed.error["type"] == "limit_exceeded":
                token.status = "failed"  # token-graphs.md#limits: the token that went past the limit failed
            raise

    def _leaving_alone(self, act: Callable[[], Result]) -> Result:
        """token-graphs.md#abandoned-slots: left to finish, also when a slot around it is cancelled later."""
        self._left_alone = {t: t.status for t in self.run.tokens if not t.ended and abandoned(t.slot)}
        try:
            return act()
        finally:
            for token, status in self._left_alone.items():
                if self._alive() and token.status in ("cancelled", "timed_out"):
                    token.status = status
