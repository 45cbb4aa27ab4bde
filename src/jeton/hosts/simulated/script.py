"""Results of simulated tasks."""

from collections.abc import Callable, Mapping
from random import Random
from typing import TypeAlias

import msgspec

from jeton.executor.event_sink import MetricSample
from jeton.executor.signals import SentSignal
from jeton.model.chat import Speaker
from jeton.model.definition.task import AsksInput, Suspended, Task
from jeton.model.definition.workflow import Library
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.note import Note
from jeton.model.state.phase import Continuation


class ScriptedCall(msgspec.Struct, frozen=True):
    """One attempt at a task. `visit`: how often a token was at this node on this path before."""

    run: RunId
    node: str
    path: str
    visit: int
    attempt: int
    input: Json
    workflow: str = ""  # of the run
    at: int = 0  # when it was dispatched; a task that slept gets the same call again, later
    token: TokenId = TokenId(0)
    facts: JsonObject = {}  # what expressions read as `run`
    continuation: Continuation | None = None  # what the attempt left behind when it gave its worker back
    speaker: Speaker | None = None  # the agent it works for
    delivery: int = 1


class Answer(msgspec.Struct, frozen=True):
    """The result of a task, or its failure, and how long it takes; a random time if `takes_ms` is None.

    `publishes` are events with their data, published just before the result: triggers may fire for them. `measures` are
    metrics, and `signals` are sent to runs, likewise. `notes` are logs, progress and costs of the task."""

    result: Json = None
    failure: TaskFailed | None = None
    suspended: Suspended | None = None  # instead of either
    asked: AsksInput | None = None  # instead of all of them
    continued: int = 0  # with `asked`, set by the worker: how often the attempt had given its worker back before
    takes_ms: int | None = None
    publishes: tuple[tuple[str, Json], ...] = ()
    measures: tuple[MetricSample, ...] = ()
    notes: tuple[Note, ...] = ()
    signals: tuple[SentSignal, ...] = ()


def answer_of(found: Json | TaskFailed | Suspended | AsksInput, takes_ms: int) -> Answer:
    """The executor's result as an answer."""
    match found:
        case TaskFailed():
            return Answer(failure=found, takes_ms=takes_ms)
        case Suspended():
            return Answer(suspended=found, takes_ms=takes_ms)
        case AsksInput():
            return Answer(asked=found, takes_ms=takes_ms)
        case _:
            return Answer(found, takes_ms=takes_ms)


ScriptedAnswer: TypeAlias = Answer | Callable[[ScriptedCall], Answer]


class Job(msgspec.Struct):
    """An attempt in the hands of a worker. Its answer is known before time passes."""

    call: ScriptedCall
    task: Task
    bundle: Library
    answer: Answer | None = None


class Script:
    """An answer per node, fixed or computed from the call. A node without one succeeds with an empty object.

    An answer must depend on the call alone: after a crash, the same attempt is answered again and must get the same
    answer.
    """

    def __init__(self, answers: Mapping[str, ScriptedAnswer] | None = None, seed: int = 0) -> None:
        self._answers = dict(answers or {})
        self.seed = seed

    def answer(self, call: ScriptedCall) -> Answer:
        """The answer to a call."""
        found = self._answers.get(call.node, _EMPTY)
        answer = found if isinstance(found, Answer) else found(call)
        if answer.takes_ms is not None:
            return answer
        return msgspec.structs.replace(answer, takes_ms=self.chance(call).randint(1, 20))

    def take(self, job: Job) -> None:
        """Put the answer into a job, at once."""
        job.answer = self.answer(job.call)

    def missing(self, task: Task, bundle: Library) -> str | None:
        """The name of a Python function of the task that cannot be found here, if any."""
        return None

    def chance(self, call: ScriptedCall) -> Random:
        """A random generator of this call's own."""
        return Random(f"{self.seed}/{call.run}/{call.node}/{call.path}/{call.visit}/{call.attempt}")


_EMPTY = Answer({})
