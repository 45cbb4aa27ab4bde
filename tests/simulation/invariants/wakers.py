"""Whoever waits for a time is woken: the run's one alarm is never later than the soonest of them."""

from heapq import heappop, heappush
from typing import TypeAlias

from jeton.model import decision as d
from jeton.model.ids import GroupId, TokenId
from jeton.model.state.phase import (
    Dispatched,
    Executing,
    WaitingForAgent,
    WaitingForGate,
    WaitingForRetry,
    WaitingForSignal,
    WaitingForSubworkflow,
    WaitingForTimer,
)
from jeton.model.state.run import RunState
from tests.simulation.invariants.seen import Seen, broken, named_in
from tests.simulation.stories.naps import sleeps_until

_Due: TypeAlias = tuple[int, int, str]
"""When, whose (a token, a group, or nobody's), and for a group at which node."""


class Wakers:
    """Every time anybody ever waited for, soonest first; what the state no longer knows of is dropped on the way."""

    def __init__(self) -> None:
        self._due: list[_Due] = []

    def committed(self, seen: Seen) -> None:
        for decision in seen.entry.decisions:
            if type(decision) not in self._followed:
                continue
            self._follow(decision)
            if isinstance(decision, d.SetPaused) and not decision.paused:
                for token in seen.run.state.tokens.values():  # those that stood still come back
                    match token.phase:
                        case WaitingForRetry(due=at) | Dispatched(deadline=at):
                            due: int | None = at
                        case _:
                            due = sleeps_until(token)
                    if due is not None:
                        heappush(self._due, (due, token.id, ""))
        state, wake = seen.run.state, seen.turn.row.wake
        while self._due and not _still_waits(state, self._due[0]):
            heappop(self._due)
        soonest = self._due[0] if self._due else None
        if soonest is None and wake is not None:
            broken(f"the run wants to be woken at {wake}, and nobody in it waits")
        if soonest is not None and (wake is None or wake > soonest[0]):
            broken(f"somebody waits until {soonest}, and the alarm is at {wake}")

    def _follow(self, decision: d.Decision) -> None:
        match decision:
            case d.DispatchToken(token, deadline=due) | d.RedeliverToken(token, deadline=due):
                heappush(self._due, (due, token, ""))
            case d.SuspendToken(token, due=due) | d.WakeToken(token, deadline=due):
                heappush(self._due, (due, token, ""))
            case d.MarkExecuting(token, deadline=due) | d.WaitForTimer(token, due=due) | d.RetryToken(token, due=due):
                heappush(self._due, (due, token, ""))
            case d.CallWorkflow(token, deadline=int() as due) | d.OpenGate(token, deadline=int() as due):
                heappush(self._due, (due, token, ""))
            case (
                d.WaitForSignal(token, deadline=int() as due)
                | d.CallAgent(token, deadline=int() as due)
                | d.AskInput(token, deadline=int() as due)
            ):
                heappush(self._due, (due, token, ""))
            case d.ContinueTask(token, at=at, deadline=due, paused=paused):
                heappush(self._due, (at if paused else due, token, ""))
            case d.HoldNode(token, held=held):
                heappush(self._due, (held.due, token, ""))
            case d.SettleSlot(slot, node=str() as node, deadline=int() as due):
                heappush(self._due, (due, slot[0], node))
            case d.BeginRun(deadline=int() as due):
                heappush(self._due, (due, -1, ""))
            case _:
                pass

    _followed = named_in(_follow, committed)


def _still_waits(state: RunState, waiting: _Due) -> bool:
    due, number, node = waiting
    if state.head.ended or number < 0:
        return not state.head.ended
    if node:
        progress = state.progress.get(GroupId(number))
        fan_in = None if progress is None else progress.fan_ins.get(node)
        return fan_in is not None and fan_in.deadline == due
    token = state.tokens.get(TokenId(number))
    if token is None:
        return False
    if (at := sleeps_until(token)) is not None:
        return at == due and not state.head.paused
    match token.phase:
        case Executing(deadline=at):
            return at == due
        case WaitingForTimer(due=at):
            return at == due
        case WaitingForRetry(due=at) | Dispatched(deadline=at):
            return at == due and not state.head.paused
        case WaitingForSubworkflow(deadline=at) | WaitingForGate(deadline=at) | WaitingForSignal(deadline=at):
            return at == due
        case WaitingForAgent(deadline=at):
            return at == due
        case _:
            return False
