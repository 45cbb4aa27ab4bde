"""Run tasks: many at a time, fairly between runs, each finished at most once."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from jeton.executor.action import Resources, failure_from, wall_clock_ms
from jeton.executor.artifacts import Artifacts
from jeton.executor.call import TaskCall
from jeton.executor.clock import Clock, LoopClock
from jeton.executor.deltas import Deltas
from jeton.executor.event_sink import EventSink
from jeton.executor.limits.idempotency import IdempotencyStore
from jeton.executor.limits.lane import Lane
from jeton.executor.mcp.pinning import pin_used
from jeton.executor.mcp.pins import PinStore
from jeton.executor.memory import MemoryStore
from jeton.executor.secrets import SecretStore
from jeton.executor.signals import Signals
from jeton.executor.task.compile import CompiledTask, failing_task
from jeton.executor.task.notes import LoopThread, NoteLimiter
from jeton.executor.task.run_task import TaskResult, run_task
from jeton.executor.task.task_cache import TaskCache
from jeton.executor.workers.process_pool import DEFAULT_PROCESSES
from jeton.executor.workers.thread_pool import DEFAULT_THREADS, ThreadPool
from jeton.model.definition.task import Task
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask, StopTask
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.note import Note

DEFAULT_TASKS = 256  # a task that waits on the event loop costs little but memory
SLICE_S = 0.005  # how long tasks that never wait may block the event loop
STOPPING_S = 1.0  # how long a cancelled task may take to clean up before it is abandoned

AttemptKey: TypeAlias = tuple[RunId, TokenId, int]


class _Job(msgspec.Struct, eq=False):
    """One attempt, from `start` until it is finished or stopped."""

    attempt: AttemptKey
    call: TaskCall
    compiled: CompiledTask
    lane: "Lane[_Job]"
    home: LoopThread
    started: Callable[[], None]
    noted: Callable[[Note], None]
    finished: Callable[[TaskResult], None]
    running: asyncio.Task[Any] | None = None
    stopped: bool = False

    def note(self, note: Note) -> None:
        """Pass a note on, from any thread, unless the attempt was stopped."""
        self.home.call(self._note, note)

    def _note(self, note: Note) -> None:
        if not self.stopped:
            try:
                self.noted(note)
            except Exception as error:
                _report(error)


class Executor:
    """Implements `jeton.actor.workers.Workers`. Every method must be called on the event loop it lives on.

    A task whose steps never wait is run to its end without an asyncio task. Any other runs in one, because code may ask
    for the current task. Most async functions finish without waiting; the same asyncio task then continues with the
    next attempt, without a turn of the event loop in between.
    """

    def __init__(
        self,
        tasks: int = DEFAULT_TASKS,
        threads: int = DEFAULT_THREADS,
        processes: int = DEFAULT_PROCESSES,
        clock: Clock | None = None,
    ) -> None:
        self._resources = Resources(clock or LoopClock(), ThreadPool(threads))
        self._tasks = TaskCache()
        self._jobs: dict[AttemptKey, _Job] = {}
        # in the order they are served: instant tasks last, because any number of them can start
        places = {"process": processes, "thread": threads, "loop": tasks, "instant": 1}
        self._lanes: dict[str, Lane[_Job]] = {name: Lane(number) for name, number in places.items()}
        self._known_to_wait: set[int] = set()  # ids of compiled tasks that had to wait: only a hint
        self._rounds = 0
        self._stopping: set[asyncio.Task[Any]] = set()  # stopped, but still cleaning up
        self._woken = False
        self._closed = False
        self._home: LoopThread | None = None  # known with the first task

    def use(
        self,
        folder: Path,
        artifacts: Artifacts,
        idempotency: IdempotencyStore,
        event_sink: EventSink,
        signals: Signals,
        pins: PinStore,
        memory: MemoryStore,
        wall_clock: Callable[[], int] = wall_clock_ms,
    ) -> None:
        """Use the stores and the clock of a host. Must be called before the first task starts."""
        self._resources = msgspec.structs.replace(
            self._resources,
            folder=folder,
            artifacts=artifacts,
            idempotency=idempotency,
            event_sink=event_sink,
            signals=signals,
            pins=pins,
            memory=memory,
            wall_clock=wall_clock,
        )

    @property
    def secrets(self) -> SecretStore:
        """The secrets that were used so far, to be redacted everywhere."""
        return self._resources.secrets

    @property
    def deltas(self) -> Deltas:
        """Pieces of answers while models stream them."""
        return self._resources.deltas

    async def pin_tools(self, library: Library) -> None:
        """Pin the tools of MCP servers that definitions use, as far as the servers can be reached."""
        await pin_used(library, self._resources)

    def missing(self, task: Task, bundle: Library) -> str | None:
        """Name a function that the task needs and this process lacks; None if nothing is missing."""
        return self._tasks.missing(task, bundle)

    def start(
        self,
        run: RunId,
        effect: StartTask,
        task: Task,
        bundle: Library,
        started: Callable[[], None],
        noted: Callable[[Note], None],
        finished: Callable[[TaskResult], None],
    ) -> None:
        """Run one attempt, unless it is running already. The callbacks are called after this returns."""
        attempt = (run, effect.token, effect.attempt)
        if self._closed or attempt in self._jobs:
            return
        call = TaskCall(
            run,
            effect.token,
            effect.node,
            effect.attempt,
            effect.input,
            effect.at,
            effect.run,
            effect.delivery,
            effect.speaker,
            effect.continuation,
        )
        try:
            compiled = self._tasks.get(task, bundle)
        except Exception as error:  # an unchecked definition fails its task, not the host
            compiled = failing_task("definition_invalid", str(error))
        lane = self._lanes[compiled.lane]
        home = self._home
        if home is None:
            home = self._home = LoopThread()
        job = self._jobs[attempt] = _Job(attempt, call, compiled, lane, home, started, noted, finished)
        lane.put(run, job)
        self._wake()

    def stop(self, run: RunId, effect: StopTask) -> None:
        """Stop the attempt if it is running. A thread cannot be stopped: it is abandoned, and its result dropped."""
        job = self._jobs.pop((run, effect.token, effect.attempt), None)
        if job is not None:
            self._stop(job)

    async def close(self, grace_s: float) -> None:
        """Wait for running tasks up to the grace time, then stop them. Waiting tasks are not started any more."""
        self._closed = True
        for lane in self._lanes.values():
            lane.clear()
        running = [job.running for job in self._jobs.values() if job.running is not None]
        if running:
            await asyncio.wait(running, timeout=grace_s)
        jobs, self._jobs = self._jobs, {}
        for job in jobs.values():
            self._stop(job)
        if self._stopping:
            await asyncio.wait(self._stopping, timeout=STOPPING_S)
        await self._resources.servers.close()
        await self._resources.processes.close()
        await self._resources.connections.close()
        await self._resources.models.close()
        self._resources.threads.close()

    def _wake(self) -> None:
        if not self._woken:
            self._woken = True
            asyncio.get_running_loop().call_soon(self._start_waiting)

    def _start_waiting(self) -> None:
        """Start jobs while places are free. Instant tasks run in time slices, to keep the event loop responsive."""
        self._woken = False
        self._rounds += 1
        until = time.perf_counter() + SLICE_S
        for name, lane in self._lanes.items():
            while (job := lane.take()) is not None:
                if name == "instant":
                    self._run_instant(job)
                else:
                    asyncio.get_running_loop().create_task(self._run_jobs(job))
                    if name == "loop" and lane.waits and id(job.compiled) not in self._known_to_wait:
                        self._wake()
                        break  # its asyncio task may run the others too; if it waits, they are started separately
                if time.perf_counter() > until:
                    self._wake()
                    return

    def _run_instant(self, job: _Job) -> None:
        if self._report_start(job) and not _ran_to_end(self._run_job(job)):
            self._finish(job, TaskFailed("broken_kind", "an action of the lane 'instant' has waited"))

    def _report_start(self, job: _Job) -> bool:
        """Report the start. False if the attempt was stopped before, or by the callback."""
        if not job.stopped:
            try:
                job.started()
            except Exception as error:
                _report(error)
        if job.stopped:
            job.lane.release()
        return not job.stopped

    async def _run_jobs(self, job: _Job) -> None:
        """Run an attempt, then others in the same asyncio task, unless it was cancelled or its context has changed."""
        task, context = asyncio.current_task(), copy_context()
        until = time.perf_counter() + SLICE_S
        next_job: _Job | None = job
        while next_job is not None:
            rounds = self._rounds
            if self._report_start(next_job):
                next_job.running = task
                await self._run_job(next_job)
            if self._rounds != rounds:
                self._known_to_wait.add(id(next_job.compiled))
            if job.compiled.lane != "loop" or time.perf_counter() > until or not _is_unchanged(task, context):
                self._wake()
                return
            next_job = job.lane.take()

    async def _run_job(self, job: _Job) -> None:
        try:
            result = await run_task(job.call, job.compiled, self._resources, NoteLimiter(job.note))
        except GeneratorExit:
            raise
        except asyncio.CancelledError:
            # the event loop is shutting down: no result, so that the attempt is recovered later
            if not job.stopped:
                self._forget(job)
            return
        except BaseException as error:  # no exception may end the event loop, or leave the token without a result
            failed = failure_from(error)
            result = TaskFailed(failed.type, failed.message, transient=failed.transient)
        self._finish(job, result)

    def _finish(self, job: _Job, result: TaskResult) -> None:
        if not job.stopped:
            self._forget(job)
            try:
                job.finished(result)
            except Exception as error:
                _report(error)

    def _forget(self, job: _Job) -> None:
        job.stopped = True
        del self._jobs[job.attempt]
        job.lane.release()
        self._wake()

    def _stop(self, job: _Job) -> None:
        """Cancel an attempt. Its place is free at once, even if it takes time to end, or never does."""
        job.stopped = True
        if job.running is not None:
            job.lane.release()
            self._wake()
            job.running.cancel()
            self._stopping.add(job.running)
            job.running.add_done_callback(self._stopping.discard)


def _is_unchanged(task: asyncio.Task[Any] | None, context: Context) -> bool:
    """Whether an attempt left its asyncio task unchanged, so that the next may use it."""
    if task is None or task.cancelling():
        return False
    try:
        return copy_context() == context
    except Exception:  # values that cannot be compared count as changed
        return False


def _ran_to_end(work: Coroutine[object, None, None]) -> bool:
    """Run a coroutine that never suspends to its end. If it does suspend, close it and return False."""
    try:
        work.send(None)
    except StopIteration:
        return True
    work.close()
    return False


def _report(error: Exception) -> None:
    """Report that a callback of the host failed. The executor continues."""
    context = {"message": "a callback of the host failed", "exception": error}
    asyncio.get_running_loop().call_exception_handler(context)
