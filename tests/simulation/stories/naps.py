"""Which tasks of a simulated world sleep, and for how long: as a Python node with `step.sleep` in it would."""

from random import Random

from jeton.hosts.simulated.script import Answer, ScriptedCall
from jeton.model.definition.task import Suspended
from jeton.model.ids import RunId
from jeton.model.state.phase import Sleeping
from jeton.model.state.run import Token

LENGTHS = (1, 5, 20, 60)


def sleeps_until(token: Token) -> int | None:
    """When a token whose task sleeps is due; None if its task does not sleep."""
    return token.phase.due if isinstance(token.phase, Sleeping) else None


class Naps:
    """Remembers when each sleep is over, from when it was first asked for: a crash does not make it longer."""

    def __init__(self, seed: int, chance: float = 0.25) -> None:
        self._seed = seed
        self._chance = chance
        self._due: dict[tuple[RunId, str, str, int, int], int] = {}

    def before(self, call: ScriptedCall, answer: Answer) -> Answer:
        """The answer, or that its task is asleep until it gives it."""
        for number, length in enumerate(self._naps(call.node)):
            nap = (call.run, call.node, call.path, call.visit, number)
            due = self._due.setdefault(nap, call.at + length)
            if call.at < due:
                return Answer(suspended=Suspended(due, f"nap {number}"))
        return answer

    def _naps(self, node: str) -> list[int]:
        rng = Random(f"{self._seed}/{node}/naps")
        return [rng.choice(LENGTHS) for _ in range(rng.choice((1, 1, 2)))] if rng.random() < self._chance else []
