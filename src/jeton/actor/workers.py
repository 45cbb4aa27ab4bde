"""The protocol between a host and the executor."""

from collections.abc import Callable
from typing import Protocol

from jeton.model.definition.task import Suspended, Task
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask, StopTask
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.note import Note


class Workers(Protocol):
    """Runs tasks for a host. Every call and every callback is made on the host's event loop."""

    def missing(self, task: Task, bundle: Library) -> str | None:
        """The name of a Python function of the task that cannot be found here, if any.

        A run that needs it is parked (`needs_app`), not failed."""
        ...

    def start(
        self,
        run: RunId,
        effect: StartTask,
        task: Task,
        bundle: Library,
        started: Callable[[], None],
        noted: Callable[[Note], None],
        finished: Callable[[Json | TaskFailed | Suspended], None],
    ) -> None:
        """Run one attempt. Calls `finished` exactly once, unless the attempt is stopped first.

        An attempt that sleeps finishes as `Suspended`, and is started again as the same attempt when it is due.
        The number and size of notes per attempt are bounded here."""
        ...

    def stop(self, run: RunId, effect: StopTask) -> None:
        """Stop the attempt if it is still running; its result is no longer wanted."""
        ...

    async def close(self, grace_s: float) -> None:
        """Let running tasks finish within the grace time, and stop the rest."""
        ...
