"""Tasks that the executor really runs, on a virtual clock."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

import msgspec

from jeton.executor import CompiledTask, Resources, TaskCall, ThreadPool, VirtualClock, run_task
from jeton.executor.action import failure_from
from jeton.executor.artifacts import Artifacts
from jeton.executor.event_sink import MemoryEventSink
from jeton.executor.limits.idempotency import IdempotencyStore
from jeton.executor.mcp.pins import PinStore
from jeton.executor.memory import MemoryStore
from jeton.executor.signals import SentSignal, Signals
from jeton.executor.task.notes import NoteLimiter
from jeton.executor.task.task_cache import TaskCache
from jeton.hosts.simulated.script import Answer, Job, Script, ScriptedAnswer, answer_of
from jeton.model.definition.task import Task
from jeton.model.definition.workflow import Library
from jeton.model.failure import TaskFailed
from jeton.model.note import Note


class SignalPlans(Signals, Protocol):
    """Signals that are sent with the result of the task."""

    def take(self) -> tuple[SentSignal, ...]:
        """The signals that were sent since this was last asked."""
        ...


class RealTasks(Script):
    """Given answers for some nodes; the tasks of all others are run on the host's event loop.

    Virtual time stands still while a function runs: delays, retries and `step.sleep` cost no time, and what a function
    waits for by itself takes as long as it takes."""

    def __init__(self, answers: Mapping[str, ScriptedAnswer], seed: int) -> None:
        super().__init__(answers, seed)
        self._given = frozenset(answers)
        self._ready = TaskCache()
        self._resources = Resources(VirtualClock(), ThreadPool(1))
        self._signals: SignalPlans | None = None

    def use(
        self,
        artifacts: Artifacts,
        idempotency: IdempotencyStore,
        signals: SignalPlans,
        pins: PinStore,
        memory: MemoryStore,
    ) -> None:
        """Work for this store."""
        self._signals = signals
        self._resources = msgspec.structs.replace(
            self._resources, artifacts=artifacts, idempotency=idempotency, signals=signals, pins=pins, memory=memory
        )

    def take(self, job: Job) -> None:
        """Put a given answer into a job; one that has to be worked out is left open."""
        if job.call.node in self._given:
            super().take(job)

    def missing(self, task: Task, bundle: Library) -> str | None:
        return self._ready.missing(task, bundle)

    def compiled(self, job: Job) -> CompiledTask:
        """The task that is run for a job."""
        return self._ready.get(job.task, job.bundle)

    async def work(self, job: Job) -> None:
        """Work out the answer of a job."""
        call = job.call
        clock, sink, notes = VirtualClock(call.at), MemoryEventSink(), list[Note]()
        resources = msgspec.structs.replace(self._resources, clock=clock, event_sink=sink, wall_clock=clock.now)
        asked = TaskCall(
            call.run,
            call.token,
            call.node,
            call.attempt,
            call.input,
            call.at,
            call.facts,
            delivery=call.delivery,
            speaker=call.speaker,
            continuation=call.continuation,
        )
        try:
            ready = self.compiled(job)
            answer = answer_of(
                await run_task(asked, ready, resources, NoteLimiter(notes.append)), clock.now() - call.at
            )
        except BaseException as error:  # as in the executor: whatever a task raises is its failure
            current = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and current is not None and current.cancelling():
                raise
            failed = failure_from(error)
            failure = TaskFailed(failed.type, failed.message, transient=failed.transient)
            answer = Answer(failure=failure, takes_ms=clock.now() - call.at)
        job.answer = msgspec.structs.replace(
            answer,
            publishes=tuple((each.event, each.data) for each in sink.events),
            measures=tuple(sink.metrics),
            notes=tuple(notes),
            signals=() if self._signals is None else self._signals.take(),
        )

    async def close(self) -> None:
        """End the threads and processes that functions ran in."""
        await self._resources.servers.close()
        await self._resources.processes.close()
        await self._resources.connections.close()
        await self._resources.models.close()
        self._resources.threads.close()
