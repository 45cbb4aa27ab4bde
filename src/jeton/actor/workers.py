"""The protocol between a host and the executor, and the task behind a token."""

from collections.abc import Callable
from typing import Protocol

from jeton.model.definition.task import AsksInput, Suspended, Task
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask, StopTask
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.message import TaskAsked
from jeton.model.note import Note
from jeton.model.state.run import RunState
from jeton.planning.program.workflow import Program
from jeton.planning.turns.places import program_at


def task_asked(now: int, started: StartTask, asked: AsksInput) -> TaskAsked:
    """The message about what a task asks."""
    before = 0 if started.continuation is None else started.continuation.number
    attempt = started.token, started.attempt
    return TaskAsked(now, *attempt, asked.title, asked.schema, asked.state, asked.timeout_ms, before)


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
        finished: Callable[[Json | TaskFailed | Suspended | AsksInput], None],
    ) -> None:
        """Run one attempt. Calls `finished` exactly once, unless the attempt is stopped first.

        An attempt that sleeps finishes as `Suspended`, and is started again as the same attempt when it is due. One
        that asks people something finishes as `AsksInput`, and is started again with the answer.
        The number and size of notes per attempt are bounded here."""
        ...

    def stop(self, run: RunId, effect: StopTask) -> None:
        """Stop the attempt if it is still running; its result is no longer wanted."""
        ...

    async def close(self, grace_s: float) -> None:
        """Let running tasks finish within the grace time, and stop the rest."""
        ...


def task_of(program: Program, bundle: Library, state: RunState, token: TokenId) -> tuple[Task, Library]:
    """The task of a token, and the bundle it is from: in a conversation, those that its turn began with."""
    found = state.tokens[token]
    if program.talk is not None:
        program = program_at(program, state, found)
        bundle = bundle if program.talk is None else program.talk.library
    task = program.nodes[found.node].task
    if task is None:
        raise BrokenInvariant("a task was asked for at a node without one", node=found.node)
    return task, bundle
