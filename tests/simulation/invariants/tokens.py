"""Tokens are conserved: each is created once, ends once, and between the two is exactly one thing at a time."""

from jeton.model import decision as d
from jeton.model.state.ranges import numbers_in
from tests.simulation.invariants.seen import Seen, broken, named_in


class Tokens:
    """Every token that has not ended, as the journal tells it."""

    def __init__(self) -> None:
        self._created = 0
        self._moving: set[int] = set()
        self._waiting: set[int] = set()
        self._abandoned: set[int] = set()

    def committed(self, seen: Seen) -> None:
        for decision in seen.entry.decisions:
            if type(decision) in self._followed:
                self._follow(decision)
        state = seen.run.state
        head = state.head
        alive = len(self._moving) + len(self._waiting) + len(self._abandoned)
        if (head.next_token, head.alive) != (self._created, alive):
            broken(f"{self._created} tokens were created and {alive} are alive; the head says {head}")
        if head.busy + head.parked != len(self._moving):
            broken(f"{len(self._moving)} tokens are under way; the head says {head}")
        if len(state.tokens) != len(self._moving) + len(self._abandoned):
            broken(f"{len(state.tokens)} tokens are kept; {self._moving} move and {self._abandoned} are abandoned")
        if head.ended and (alive or state.tokens or state.slots or state.groups or state.progress or state.arrived):
            broken("the run has ended and something of it is still under way")
        if not head.ended and head.status != "submitted" and not self._moving and not state.has_talk:
            broken("nothing of the run is under way and it has not ended")

    def _follow(self, decision: d.Decision) -> None:
        match decision:
            case d.CreateToken():
                self._create(decision)
            case d.CreateTokens():
                for creation in decision.tokens:
                    self._create(creation)
            case d.ParkToken(token):
                self._move(token, self._moving, self._waiting)
            case d.RouteToken(token, ends=str()):
                self._move(token, self._abandoned if token in self._abandoned else self._moving, None)
            case d.OpenFanIn():
                for number in numbers_in(decision.tokens):
                    self._move(number, self._waiting, None)
            case d.EndTokens():
                for number in numbers_in(decision.tokens):
                    kinds = (self._moving, self._waiting, self._abandoned)
                    self._move(number, next((kind for kind in kinds if number in kind), self._moving), None)
            case d.AbandonTokens():
                for number in numbers_in(decision.tokens):
                    self._move(number, self._moving, self._abandoned)
            case (
                d.FinishNode(token)
                | d.FailNode(token)
                | d.WaitForTimer(token)
                | d.RetryToken(token)
                | d.AskInput(token)
            ):
                if token not in self._moving:
                    broken(f"a token that does not move is at work: {decision}")
            case (
                d.DispatchToken(token)
                | d.RedeliverToken(token)
                | d.MarkExecuting(token)
                | d.SuspendToken(token)
                | d.WakeToken(token)
                | d.ContinueTask(token)
            ):
                if token not in self._moving and token not in self._abandoned:
                    broken(f"a token that has ended is at work: {decision}")
            case _:
                pass

    def _create(self, creation: d.CreateToken) -> None:
        if creation.token != self._created:
            broken(f"token {creation.token} is created, and {self._created} is the next")
        self._created += 1
        self._moving.add(creation.token)

    def _move(self, number: int, source: set[int], target: set[int] | None) -> None:
        if number not in source:
            broken(f"token {number} is not where a decision takes it from")
        source.remove(number)
        if target is not None:
            target.add(number)

    _followed = named_in(_follow)
