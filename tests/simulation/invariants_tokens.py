"""Tokens are conserved: each is created once, ends once, and between the two is exactly one thing at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jeton.model.decision import (
    AbandonTokens,
    CreateToken,
    CreateTokens,
    Decision,
    DispatchToken,
    EndTokens,
    FailNode,
    FinishNode,
    MarkExecuting,
    OpenFanIn,
    ParkToken,
    RedeliverToken,
    RetryToken,
    RouteToken,
    WaitForTimer,
)
from jeton.model.ids import TokenId
from jeton.model.ranges import numbers_in

if TYPE_CHECKING:
    from tests.simulation.invariants import Seen


class Tokens:
    """Every token under way, as the journal tells it."""

    def __init__(self) -> None:
        self._created = 0
        self._moving: set[int] = set()
        self._waiting: set[int] = set()
        self._abandoned: set[int] = set()

    def take(self, seen: Seen) -> str | None:
        """What is wrong after this commit, if anything is."""
        for decision in seen.entry.decisions:
            problem = self._follow(decision)
            if problem is not None:
                return f"{problem}: {decision}"
        state = seen.run.state
        head = state.head
        alive = len(self._moving) + len(self._waiting) + len(self._abandoned)
        if (head.next_token, head.alive) != (self._created, alive):
            return f"{self._created} tokens were created and {alive} are alive; the head says {head}"
        if head.busy + head.parked != len(self._moving):
            return f"{len(self._moving)} tokens are under way; the head says {head}"
        if len(state.tokens) != len(self._moving) + len(self._abandoned):
            return f"{len(state.tokens)} tokens are kept, and {self._moving} and {self._abandoned} are under way"
        if head.ended and (alive or state.tokens or state.slots or state.groups or state.progress or state.arrived):
            return "the run has ended and something of it is still under way"
        if not head.ended and not self._moving:
            return "nothing of the run is under way and it has not ended"
        return None

    def _follow(self, decision: Decision) -> str | None:
        match decision:
            case CreateToken():
                return self._create(decision)
            case CreateTokens():
                return next(filter(None, map(self._create, decision.tokens)), None)
            case ParkToken(token):
                return self._take(token, self._moving) or self._give(token, self._waiting)
            case RouteToken(token, ends=str()):
                return self._take(token, self._abandoned if token in self._abandoned else self._moving)
            case OpenFanIn():
                return next(filter(None, (self._take(n, self._waiting) for n in numbers_in(decision.tokens))), None)
            case EndTokens():
                return next(filter(None, map(self._end, numbers_in(decision.tokens))), None)
            case AbandonTokens():
                numbers = list(numbers_in(decision.tokens))
                taken = [self._take(n, self._moving) or self._give(n, self._abandoned) for n in numbers]
                return next(filter(None, taken), None)
            case FinishNode(token) | FailNode(token) | WaitForTimer(token) | RetryToken(token):
                return None if token in self._moving else "a token that does not move does something"
            case DispatchToken(token) | RedeliverToken(token) | MarkExecuting(token):
                return None if token in self._moving or token in self._abandoned else "a token that ended works"
            case _:
                return None

    def _create(self, creation: CreateToken) -> str | None:
        if creation.token != self._created:
            return f"token {creation.token} is not the next one"
        self._created += 1
        return self._give(creation.token, self._moving)

    def _end(self, number: int) -> str | None:
        token = TokenId(number)
        for kind in (self._moving, self._waiting, self._abandoned):
            if token in kind:
                return self._take(token, kind)
        return f"token {token} ends twice"

    def _take(self, number: int, kind: set[int]) -> str | None:
        if number not in kind:
            return f"token {number} is not there"
        kind.remove(number)
        return None

    def _give(self, number: int, kind: set[int]) -> None:
        kind.add(number)
