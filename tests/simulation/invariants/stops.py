"""Nobody works for a token that is done with: whoever is left at work when it goes on or ends is told to stop."""

from jeton.model import decision as d
from jeton.model.effect import Effect, StopTask
from jeton.model.message import TaskAsked, TaskFinished, TaskLost, TaskSuspended
from jeton.model.state.ranges import numbers_in
from tests.simulation.invariants.seen import Seen, broken, named_in


class Stops:
    """The attempts that somebody may be at."""

    def __init__(self) -> None:
        self._at_work: set[int] = set()

    def committed(self, seen: Seen, effects: tuple[Effect, ...]) -> None:
        left = [
            token
            for decision in seen.entry.decisions
            if type(decision) in self._followed
            for token in self._left(decision)
        ]
        if not left:
            return
        # who answered, or is known to be gone, need not be told
        done = {
            m.token for m in seen.entry.messages if isinstance(m, TaskFinished | TaskLost | TaskSuspended | TaskAsked)
        }
        stopped = {effect.token for effect in effects if isinstance(effect, StopTask)}
        if not {*left} <= done | stopped:
            broken(f"tokens {sorted({*left} - done - stopped)} are done with, and their workers were not told")

    def _left(self, decision: d.Decision) -> list[int]:
        """The tokens whose work is over with this decision, while somebody may still be at it."""
        over: list[int] = []
        match decision:
            case d.DispatchToken(token) | d.RedeliverToken(token) | d.WakeToken(token):
                self._at_work.add(token)
            case d.ContinueTask(token, paused=False):
                self._at_work.add(token)
            case d.FinishNode(token) | d.RetryToken(token) | d.FailNode(token) | d.RouteToken(token, ends=str()):
                over.append(token)
            case d.HoldNode(token) | d.ExecuteNode(token) | d.BreakNode(token) | d.SuspendToken(token):
                over.append(token)
            case d.AskInput(token):
                over.append(token)
            case d.EndTokens():
                over.extend(numbers_in(decision.tokens))
            case _:
                pass
        left = [token for token in over if token in self._at_work]
        self._at_work.difference_update(left)
        return left

    _followed = named_in(_left)
