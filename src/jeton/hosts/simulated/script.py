"""What simulated workers answer."""

from collections.abc import Callable, Mapping
from random import Random
from typing import TypeAlias

import msgspec

from jeton.model.definition.task import Suspended
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId
from jeton.model.json import Json


class ScriptedCall(msgspec.Struct, frozen=True):
    """One attempt at a task. `visit`: how often a token stood at this node on this path before."""

    run: RunId
    node: str
    path: str
    visit: int
    attempt: int
    input: Json
    workflow: str = ""  # the run's
    at: int = 0  # when the worker was given it: one that was asleep is given the same call again, later


class Answer(msgspec.Struct, frozen=True):
    """What a worker says in the end, and when. Without a duration the script's seed draws one.

    `publishes` are events, each with its data, that it publishes just before: triggers hear them."""

    result: Json = None
    failure: TaskFailed | None = None
    suspended: Suspended | None = None  # instead of either
    takes_ms: int | None = None
    publishes: tuple[tuple[str, Json], ...] = ()


def answer_of(found: Json | TaskFailed | Suspended, takes_ms: int) -> Answer:
    """What the executor came to, as a worker's answer."""
    match found:
        case TaskFailed():
            return Answer(failure=found, takes_ms=takes_ms)
        case Suspended():
            return Answer(suspended=found, takes_ms=takes_ms)
        case _:
            return Answer(found, takes_ms=takes_ms)


ScriptedAnswer: TypeAlias = Answer | Callable[[ScriptedCall], Answer]


class Script:
    """An answer per node, fixed or worked out from the call. A node without one succeeds with an empty object.

    The same attempt always gets the same answer, however often a crash has it delivered again: an answer may depend
    on the call, and on nothing else. A task that sleeps gives its answer when its time has come.
    """

    def __init__(self, answers: Mapping[str, ScriptedAnswer] | None = None, seed: int = 0) -> None:
        self._answers = dict(answers or {})
        self.seed = seed

    def answer(self, call: ScriptedCall) -> Answer:
        """What the worker who is given this call will say."""
        found = self._answers.get(call.node, _NOTHING_TO_SAY)
        answer = found if isinstance(found, Answer) else found(call)
        if answer.takes_ms is not None:
            return answer
        return msgspec.structs.replace(answer, takes_ms=self.chance(call).randint(1, 20))

    def chance(self, call: ScriptedCall) -> Random:
        """Random numbers that belong to this call alone."""
        return Random(f"{self.seed}/{call.run}/{call.node}/{call.path}/{call.visit}/{call.attempt}")


_NOTHING_TO_SAY = Answer({})
