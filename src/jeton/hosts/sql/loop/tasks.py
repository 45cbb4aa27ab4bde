"""Tasks of the runs in memory: started and stopped at the workers, their results delivered to the runs."""

import logging
from asyncio import AbstractEventLoop
from collections.abc import Callable

from jeton.actor.workers import Workers, task_asked, task_of
from jeton.hosts.sql.loop.actor import Actor
from jeton.model.definition.task import AsksInput, Suspended
from jeton.model.effect import StartTask, StopTask
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.message import Message, TaskFinished, TaskNoted, TaskStarted, TaskSuspended
from jeton.model.note import Note

FLUSH_NOTICES_S = 1.0

_log = logging.getLogger("jeton.store")


class Tasks:
    """The workers as the runs use them. `deliver` gives a run a message, `flush_notices` a batch with its notices."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        workers: Workers | None,
        clock: Callable[[], int],
        deliver: Callable[[Actor, Message], None],
        flush_notices: Callable[[Actor], None],
        is_mine: Callable[[RunId], bool],
    ) -> None:
        self._is_mine = is_mine
        self.needs_app: dict[RunId, str] = {}
        self.stopping = False
        self._loop = loop
        self._workers = workers
        self._clock = clock
        self._deliver = deliver
        self._flush_notices = flush_notices
        self._runnable: set[tuple[str, int, str]] = set()  # nodes whose functions are all here

    def missing(self, actor: Actor, token: TokenId) -> str | None:
        """The name of a function that a token's task needs and that is not here, if any."""
        head, node = actor.live.state.head, actor.live.state.tokens[token].node
        place = (head.workflow, head.version, node)
        if place in self._runnable:
            return None
        if self._workers is None:
            return "no tasks are run here"
        missing = self._workers.missing(*task_of(actor.program, actor.bundle, actor.live.state, token))
        if missing is None:
            self._runnable.add(place)
        return missing

    def set_needs_app(self, run: RunId, function: str | None) -> None:
        """Set which function a run lacks, or None if it lacks none."""
        if function is None:
            self.needs_app.pop(run, None)
        else:
            self.needs_app[run] = function

    def start(self, actor: Actor, effect: StartTask) -> None:
        """Start an attempt, unless it is running already. While the host closes, it is left for the next owner."""
        attempt = (effect.token, effect.attempt)
        if attempt in actor.running or self.stopping or not self._is_mine(actor.run):
            return
        if effect.token not in actor.live.state.tokens:
            return  # it ended in the same batch
        missing = self.missing(actor, effect.token)
        if missing is not None or self._workers is None:
            self.set_needs_app(actor.run, missing or "")
            return

        def started() -> None:
            if attempt in actor.running:
                actor.notices.append(TaskStarted(self._clock(), *attempt))

        def noted(note: Note) -> None:
            if attempt in actor.running:
                actor.notices.append(TaskNoted(self._clock(), *attempt, note))
                if not actor.flush_scheduled:  # a long task may have nothing else to commit for a long time
                    actor.flush_scheduled = True
                    self._loop.call_later(FLUSH_NOTICES_S, self._flush_notices, actor)

        def finished(result: Json | TaskFailed | Suspended | AsksInput) -> None:
            if attempt not in actor.running:
                return  # it was stopped, or finished before
            actor.running.discard(attempt)
            if type(result) is TaskFailed:
                self._deliver(actor, TaskFinished(self._clock(), *attempt, failure=result))
            elif type(result) is Suspended:
                suspended = TaskSuspended(self._clock(), *attempt, result.until, result.sleep, result.state)
                self._deliver(actor, suspended)
            elif type(result) is AsksInput:
                self._deliver(actor, task_asked(self._clock(), effect, result))
            else:
                self._deliver(actor, TaskFinished(self._clock(), *attempt, result))

        actor.running.add(attempt)
        try:
            task = task_of(actor.program, actor.bundle, actor.live.state, effect.token)
            self._workers.start(actor.run, effect, *task, started, noted, finished)
        except Exception as problem:
            _log.exception("a task of run %s could not be started", actor.run)
            finished(TaskFailed("executor_error", f"{type(problem).__name__}: {problem}", transient=True))

    def stop(self, actor: Actor, effect: StopTask, *, forget: bool = True) -> None:
        """Stop an attempt if it is running here."""
        attempt = (effect.token, effect.attempt)
        if attempt in actor.running and self._workers is not None:
            if forget:
                actor.running.discard(attempt)
            self._workers.stop(actor.run, effect)
