"""The times that a run waits for, soonest first.

Most are the ends of lengths of time, by the time of messages. Points in time are kept apart, because they follow the
system clock, which can be set.

Derived from the state and never stored. A timer that the state no longer has is stale and skipped when it comes up, so
removing one costs nothing.
"""

from heapq import heapify, heappop, heappush
from typing import NamedTuple, TypeAlias

from jeton.model.cue import TimerDue
from jeton.model.ids import GroupId, TokenId
from jeton.model.state.phase import Dispatched, Executing, Pending
from jeton.model.state.run import RunState, Token

_Timer: TypeAlias = tuple[int, int, int, int, str]
"""Due, set at, kind, number, node. Of two timers due at the same time, the one set first comes first."""

_RUN, _TOKEN, _FAN_IN = 0, 1, 2
NEVER = 1 << 62


class NextDue(NamedTuple):
    """When a run is next due: at the end of a length of time, and at a point in time; `NEVER` if it waits for none."""

    length: int
    point: int

    @property
    def is_set(self) -> bool:
        """Whether it waits for any time."""
        return self != (NEVER, NEVER)

    def is_due(self, now: int, wall: int) -> bool:
        """Whether either is due, by the time of messages and by the system clock's."""
        return self.length <= now or self.point <= wall

    def at(self, ahead: int) -> int:
        """The time when the first is due, while the time of messages is this far ahead of the system clock."""
        return min(self.length, self.point + ahead)


class Timers:
    """Two heaps of one run's timers: lengths of time, and points in time."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._heap: list[_Timer] = []
        self._points: list[_Timer] = []
        if state.tokens or state.progress or state.head.deadline is not None:  # a new run has none of them
            self.rebuild()

    def rebuild(self) -> None:
        """Collect every timer from the state."""
        state, head = self._state, self._state.head
        self._heap, self._points = [], []
        if head.deadline is not None:
            self._heap.append((head.deadline, head.started_at or 0, _RUN, 0, ""))
        for token in state.tokens.values():
            due = self._due(token)
            if due is not None and token.phase.is_point:
                self._points.append((due[0], due[1], _TOKEN, token.id, ""))
            elif due is not None:
                self._heap.append((due[0], due[1], _TOKEN, token.id, ""))
        for group, progress in state.progress.items():
            for node, fan_in in progress.fan_ins.items():
                if fan_in.deadline is not None:
                    self._heap.append((fan_in.deadline, fan_in.since, _FAN_IN, group, node))
        heapify(self._heap)
        heapify(self._points)

    def watch_run(self, due: int, since: int) -> None:
        heappush(self._heap, (due, since, _RUN, 0, ""))

    def watch_token(self, due: int, since: int, token: TokenId, *, wall: bool = False) -> None:
        heappush(self._points if wall else self._heap, (due, since, _TOKEN, token, ""))

    def watch_fan_in(self, due: int, since: int, group: GroupId, node: str) -> None:
        heappush(self._heap, (due, since, _FAN_IN, group, node))

    def next_due(self) -> int | None:
        """The smallest time of a timer, whichever clock it follows, or None."""
        length = self._first(self._heap, False)
        if not self._points:
            return None if length is None else length[0]
        point = self._first(self._points, True)
        return min((timer[0] for timer in (length, point) if timer is not None), default=None)

    def next_each(self) -> NextDue:
        """The next timer by each clock."""
        length, point = self._first(self._heap, False), self._first(self._points, True)
        return NextDue(NEVER if length is None else length[0], NEVER if point is None else point[0])

    def take_due(self, now: int, wall: int) -> TimerDue | None:
        """Remove and return the next timer due by `now`, or, of points in time, by the system clock's time."""
        length, point = self._first(self._heap, False), self._first(self._points, True)
        length = length if length is not None and length[0] <= now else None
        point = point if point is not None and point[0] <= wall else None
        if point is not None and (length is None or point < length):
            timer = heappop(self._points)
        elif length is not None:
            timer = heappop(self._heap)
        else:
            return None
        _, _, kind, number, node = timer
        if kind == _FAN_IN:
            return TimerDue(group=GroupId(number), node=node)
        return TimerDue() if kind == _RUN else TimerDue(token=TokenId(number))

    def _first(self, heap: list[_Timer], is_point: bool) -> _Timer | None:
        """The first timer of a heap, once the stale ones before it are removed."""
        while heap:
            timer = heap[0]
            if self._holds(timer, is_point):
                return timer
            heappop(heap)
        return None

    def _holds(self, timer: _Timer, is_point: bool) -> bool:
        due, _, kind, number, node = timer
        state = self._state
        if state.head.ended_at is not None:
            return False
        if kind == _TOKEN:
            token = state.tokens.get(TokenId(number))
            if token is None:
                return False
            phase = token.phase
            if type(phase) is Dispatched and not state.head.paused:  # as most often
                return phase.deadline == due and not is_point
            found = self._due(token)
            return found is not None and found[0] == due and phase.is_point == is_point
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
