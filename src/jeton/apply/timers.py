"""The times that a run waits for, soonest first.

Derived from the state and never stored. A timer that the state no longer has is stale and skipped when it comes up, so
removing one costs nothing.
"""

from heapq import heapify, heappop, heappush
from typing import TypeAlias

from jeton.model.cue import TimerDue
from jeton.model.ids import GroupId, TokenId
from jeton.model.state.phase import Dispatched, Executing, Pending
from jeton.model.state.run import RunState, Token

_Timer: TypeAlias = tuple[int, int, int, int, str]
"""Due, set at, kind, number, node. Of two timers due at the same time, the one set first comes first."""

_RUN, _TOKEN, _FAN_IN = 0, 1, 2


class Timers:
    """A heap of one run's timers."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._heap: list[_Timer] = []
        self.rebuild()

    def rebuild(self) -> None:
        """Collect every timer from the state."""
        state, head = self._state, self._state.head
        self._heap = []
        if head.deadline is not None:
            self._heap.append((head.deadline, head.started_at or 0, _RUN, 0, ""))
        for token in state.tokens.values():
            due = self._due(token)
            if due is not None:
                self._heap.append((due[0], due[1], _TOKEN, token.id, ""))
        for group, progress in state.progress.items():
            for node, fan_in in progress.fan_ins.items():
                if fan_in.deadline is not None:
                    self._heap.append((fan_in.deadline, fan_in.since, _FAN_IN, group, node))
        heapify(self._heap)

    def watch_run(self, due: int, since: int) -> None:
        heappush(self._heap, (due, since, _RUN, 0, ""))

    def watch_token(self, due: int, since: int, token: TokenId) -> None:
        heappush(self._heap, (due, since, _TOKEN, token, ""))

    def watch_fan_in(self, due: int, since: int, group: GroupId, node: str) -> None:
        heappush(self._heap, (due, since, _FAN_IN, group, node))

    def next_due(self) -> int | None:
        """The time of the next timer, or None."""
        while self._heap:
            if self._holds(self._heap[0]):
                return self._heap[0][0]
            heappop(self._heap)
        return None

    def take_due(self, now: int) -> TimerDue | None:
        """Remove and return the next timer due by `now`."""
        while self._heap and self._heap[0][0] <= now:
            timer = heappop(self._heap)
            if self._holds(timer):
                _, _, kind, number, node = timer
                if kind == _TOKEN:
                    return TimerDue(token=TokenId(number))
                if kind == _FAN_IN:
                    return TimerDue(group=GroupId(number), node=node)
                return TimerDue()
        return None

    def _holds(self, timer: _Timer) -> bool:
        due, _, kind, number, node = timer
        state = self._state
        if state.head.ended_at is not None:
            return False
        if kind == _TOKEN:
            token = state.tokens.get(TokenId(number))
            found = self._due(token) if token is not None else None
            return found is not None and found[0] == due
        if kind == _FAN_IN:
            progress = state.progress.get(GroupId(number))
            fan_in = progress.fan_ins.get(node) if progress is not None else None
            return fan_in is not None and fan_in.deadline == due
        return state.head.deadline == due

    def _due(self, token: Token) -> tuple[int, int] | None:
        """When the token is due. In a paused run, a token whose task would be handed to a worker is not."""
        if self._state.head.paused and token.phase.resumes_task:
            return None
        return token_due(token)


def token_due(token: Token) -> tuple[int, int] | None:
    """When the token is due, and since when it has waited."""
    phase = token.phase
    if type(phase) is Dispatched or type(phase) is Executing:
        return phase.deadline, phase.since
    if isinstance(phase, Pending):
        return None
    due = phase.wakes_at
    return None if due is None else (due, phase.since)
