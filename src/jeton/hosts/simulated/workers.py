"""Workers of a simulated host: they answer as a script says, unless a fault strikes."""

from collections.abc import Callable
from random import Random
from typing import TypeAlias

import msgspec

from jeton.hosts.simulated.agenda import Agenda
from jeton.hosts.simulated.clock import ManualClock
from jeton.hosts.simulated.faults import Faults
from jeton.hosts.simulated.script import Answer, Job, Script
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.note import Note

Attempt: TypeAlias = tuple[RunId, TokenId, int]


FAILED = Answer(failure=TaskFailed("simulated_failure", "the simulation made this task fail"), takes_ms=1)


class _Worker:
    """A worker with one attempt. Compared by identity: a replacement is another worker."""

    __slots__ = ("began",)

    def __init__(self) -> None:
        self.began = False


class Workers:
    """All workers of one host."""

    def __init__(
        self,
        agenda: Agenda,
        clock: ManualClock,
        faults: Faults,
        script: Script,
        pace: Random,
        began: Callable[[Attempt, tuple[Note, ...]], None],
        answered: Callable[[Attempt, Answer], None],
    ) -> None:
        self._agenda = agenda
        self._clock = clock
        self._faults = faults
        self._script = script
        self._pace = pace
        self._tell_began = began
        self._tell_answer = answered
        self._busy: dict[Attempt, _Worker] = {}
        self.unanswered: list[Job] = []  # to be answered before the next step

    def have(self, attempt: Attempt) -> bool:
        """Whether a worker has the attempt, as far as the host can see."""
        return attempt in self._busy

    def start(self, attempt: Attempt, job: Job) -> None:
        """Give an attempt to a worker, unless one has begun it already."""
        before = self._busy.get(attempt)
        if before is not None and before.began:
            return
        worker = self._busy[attempt] = _Worker()
        if self._faults.strikes("task_fails") is None:
            self._script.take(job)
        else:
            job.answer = FAILED
        if job.answer is None:
            self.unanswered.append(job)
        if self._faults.strikes("worker_silent") is None:
            self._after(self._pace.choice((0, 0, 1)), lambda: self._begin(attempt, worker, job))

    def stop(self, attempt: Attempt) -> None:
        """Stop an attempt. A worker that does not notice goes on, and answers."""
        if self._faults.strikes("stop_unheard") is None:
            self._busy.pop(attempt, None)

    def lose_all(self) -> None:
        """End all workers with their process. Answers already under way still arrive."""
        self._busy.clear()

    def _begin(self, attempt: Attempt, worker: _Worker, job: Job) -> None:
        if self._busy.get(attempt) is not worker:
            return
        answer = job.answer
        if answer is None:
            raise BrokenInvariant("time passed before a task was answered", node=job.call.node)
        if answer.asked is not None and job.call.continuation is not None:
            answer = msgspec.structs.replace(answer, continued=job.call.continuation.number)
        worker.began = True
        self._tell_began(attempt, answer.notes)
        takes_ms = answer.takes_ms or 0
        if self._faults.strikes("worker_stalls") is not None:
            return
        if self._faults.strikes("worker_dies") is not None:
            self._after(takes_ms // 2, lambda: self._die(attempt, worker))
        else:
            self._after(takes_ms, lambda: self._finish(attempt, worker, answer))

    def _die(self, attempt: Attempt, worker: _Worker) -> None:
        if self._busy.get(attempt) is worker:
            del self._busy[attempt]

    def _finish(self, attempt: Attempt, worker: _Worker, answer: Answer) -> None:
        if self._busy.get(attempt) is not worker:
            return
        del self._busy[attempt]
        late = self._faults.strikes("result_late")
        if late is None:
            self._tell_answer(attempt, answer)
        else:
            self._after(late.by_ms, lambda: self._tell_answer(attempt, answer))
        doubled = self._faults.strikes("result_doubled")
        if doubled is not None:
            self._after(doubled.by_ms, lambda: self._tell_answer(attempt, answer))

    def _after(self, by_ms: int, act: Callable[[], None]) -> None:
        self._agenda.put(self._clock.steady + by_ms, act)
