"""Workers for tests of hosts: functions by node, called when the loop comes to it; no executor and no threads."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeAlias

from jeton.model.effect import StartTask, StopTask
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.task import Task
from jeton.model.workflow import Library

Work: TypeAlias = Callable[[StartTask], Json | TaskFailed | None]
Started: TypeAlias = Callable[[], None]
Finished: TypeAlias = Callable[[Json | TaskFailed], None]


class TrivialWorkers:
    """Answers at once with what the node's function says; `HELD` keeps the attempt until `release`."""

    def __init__(self, work: Mapping[str, Work] | Work, lacking: frozenset[str] = frozenset()) -> None:
        self._work = work
        self._lacking = lacking
        self.calls: list[tuple[RunId, StartTask]] = []
        self.held: dict[tuple[RunId, int, int], Finished] = {}
        self.stopped: list[tuple[RunId, StopTask]] = []

    def missing(self, task: Task, bundle: Library) -> str | None:
        names = {step.action for step in task.steps if isinstance(step.action, str)}
        return next(iter(sorted(names & self._lacking)), None)

    def start(
        self, run: RunId, effect: StartTask, task: Task, bundle: Library, started: Started, finished: Finished
    ) -> None:
        self.calls.append((run, effect))
        asyncio.get_running_loop().call_soon(self._do, run, effect, started, finished)

    def _do(self, run: RunId, effect: StartTask, started: Started, finished: Finished) -> None:
        started()
        work = self._work if callable(self._work) else self._work[effect.node]
        answer = work(effect)
        if answer == HELD:
            self.held[run, effect.token, effect.attempt] = finished
        else:
            finished(answer)

    def stop(self, run: RunId, effect: StopTask) -> None:
        self.stopped.append((run, effect))

    async def close(self, grace_s: float) -> None:
        self.held.clear()


HELD = "held"
