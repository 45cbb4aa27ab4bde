"""Workers for tests of hosts: a function of the call, run on the event loop, without an executor and threads."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from jeton.model.definition.task import Task
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask, StopTask
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.note import Note

Work: TypeAlias = Callable[[StartTask], Json | TaskFailed]
Started: TypeAlias = Callable[[], None]
Noted: TypeAlias = Callable[[Note], None]
Finished: TypeAlias = Callable[[Json | TaskFailed], None]

HELD = "held"
"""No result: the attempt stays with its worker until a test calls `held`."""


class TrivialWorkers:
    """Records its calls. `lacking` are actions that it reports as missing; `says` are notes of every task."""

    def __init__(self, work: Work, lacking: frozenset[str] = frozenset(), says: tuple[Note, ...] = ()) -> None:
        self._work = work
        self._says = says
        self.lacking = lacking
        self.calls: list[tuple[RunId, StartTask]] = []
        self.held: dict[tuple[RunId, int, int], Finished] = {}
        self.stopped: list[tuple[RunId, StopTask]] = []

    def missing(self, task: Task, bundle: Library) -> str | None:
        names = {step.action for step in task.steps if isinstance(step.action, str)}
        return next(iter(sorted(names & self.lacking)), None)

    def start(
        self,
        run: RunId,
        effect: StartTask,
        task: Task,
        bundle: Library,
        started: Started,
        noted: Noted,
        finished: Finished,
    ) -> None:
        self.calls.append((run, effect))
        asyncio.get_running_loop().call_soon(self._do, run, effect, started, noted, finished)

    def _do(self, run: RunId, effect: StartTask, started: Started, noted: Noted, finished: Finished) -> None:
        started()
        for note in self._says:
            noted(note)
        answer = self._work(effect)
        if answer == HELD:
            self.held[run, effect.token, effect.attempt] = finished
        else:
            finished(answer)

    def stop(self, run: RunId, effect: StopTask) -> None:
        self.stopped.append((run, effect))
        self.held.pop((run, effect.token, effect.attempt), None)

    async def close(self, grace_s: float) -> None:
        self.held.clear()
