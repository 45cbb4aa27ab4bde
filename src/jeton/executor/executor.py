"""Runs tasks: many at a time, fairly between runs, each answered once."""

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
from jeton.executor.event_sink import EventSink
from jeton.executor.limits.idempotency import IdempotencyStore
from jeton.executor.limits.lane import Lane
from jeton.executor.secrets import SecretStore
from jeton.executor.task.compile import CompiledTask, failing_task
from jeton.executor.task.notes import NoteLimiter, on_the_loop
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

DEFAULT_TASKS = 256  # whoever waits on the loop costs memory and little else
SLICE_S = 0.005  # how long tasks that never wait may keep the loop to themselves
STOPPING_S = 1.0  # how long a cancelled task may take to clean up before it is left behind

AttemptKey: TypeAlias = tuple[RunId, TokenId, int]


class _Job:
    """One attempt in our hands, from `start` to its answer or its stop."""

    __slots__ = ("attempt", "call", "finished", "lane", "noted", "ready", "running", "started", "stopped")

    def __init__(
        self,
        attempt: AttemptKey,
        call: TaskCall,
        ready: CompiledTask,
        lane: "Lane[_Job]",
        started: Callable[[], None],
        noted: Callable[[Note], None],
        finished: Callable[[TaskResult], None],
    ) -> None:
        self.attempt = attempt
        self.call = call
        self.ready = ready
        self.lane = lane
        self.started = started
        self.noted = noted
        self.finished = finished
        self.running: asyncio.Task[Any] | None = None
        self.stopped = False

    def note(self, note: Note) -> None:
        """Pass on what the task says of itself, for as long as somebody waits for it."""
        if not self.stopped:
            _tell(self.noted, note)


class Executor:
    """Fulfils `jeton.actor.ports.Workers`. Lives on one event loop; every method is called there.

    A task whose steps never wait is driven by hand, without an asyncio task; any other runs in one, because code on
    the loop may ask which task it is in. Most async functions are done without having waited: then the same asyncio
    task goes on with the next attempt, and no turn of the loop lies between them.
    """

    def __init__(
        self,
        tasks: int = DEFAULT_TASKS,
        threads: int = DEFAULT_THREADS,
        processes: int = DEFAULT_PROCESSES,
        clock: Clock | None = None,
    ) -> None:
        self._resources = Resources(clock or LoopClock(), ThreadPool(threads))
        self._ready = TaskCache()
        self._jobs: dict[AttemptKey, _Job] = {}
        # in the order they are served: what never waits comes last, because there is no end to how much of it begins
        places = {"process": processes, "thread": threads, "loop": tasks, "instant": 1}
        self._lanes: dict[str, Lane[_Job]] = {name: Lane(number) for name, number in places.items()}
        self._waited: set[int] = set()  # tasks on the loop that did not end in one go, by identity: a hint, no more
        self._turns = 0
        self._ending: set[asyncio.Task[Any]] = set()  # stopped, and not done with it yet
        self._awake = False
        self._closed = False

    def use(
        self,
        folder: Path,
        artifacts: Artifacts,
        idempotency: IdempotencyStore,
        event_sink: EventSink,
        wall_clock: Callable[[], int] = wall_clock_ms,
    ) -> None:
        """Work for this store: what outlives a run is kept in it, and its clock is the one alarms ring by.

        To be called before the first task begins."""
        self._resources = msgspec.structs.replace(
            self._resources,
            folder=folder,
            artifacts=artifacts,
            idempotency=idempotency,
            event_sink=event_sink,
            wall_clock=wall_clock,
        )

    @property
    def secrets(self) -> SecretStore:
        """What must show nowhere."""
        return self._resources.secrets

    def missing(self, task: Task, bundle: Library) -> str | None:
        """Which function of the task cannot be found here, if any."""
        return self._ready.missing(task, bundle)

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
        """Run one attempt, unless we have it already. Nothing is called back before this returns."""
        attempt = (run, effect.token, effect.attempt)
        if self._closed or attempt in self._jobs:
            return
        call = TaskCall(run, effect.token, effect.node, effect.attempt, effect.input, effect.at)
        try:
            ready = self._ready.get(task, bundle)
        except Exception as error:  # a definition nobody checked; its task fails, and the host goes on
            ready = failing_task("definition_invalid", str(error))
        lane = self._lanes[ready.lane]
        job = self._jobs[attempt] = _Job(attempt, call, ready, lane, started, noted, finished)
        lane.put(run, job)
        self._wake()

    def stop(self, run: RunId, effect: StopTask) -> None:
        """End the attempt if it is still going. A thread cannot be ended: it is given up, and its result dropped."""
        job = self._jobs.pop((run, effect.token, effect.attempt), None)
        if job is not None:
            self._stop(job)

    async def close(self, grace_s: float) -> None:
        """Let what runs finish within the grace time, and stop the rest. What has not begun is not begun any more."""
        self._closed = True
        for lane in self._lanes.values():
            lane.clear()
        running = [job.running for job in self._jobs.values() if job.running is not None]
        if running:
            await asyncio.wait(running, timeout=grace_s)
        jobs, self._jobs = self._jobs, {}
        for job in jobs.values():
            self._stop(job)
        if self._ending:
            await asyncio.wait(self._ending, timeout=STOPPING_S)
        await self._resources.processes.close()
        await self._resources.connections.close()
        self._resources.threads.close()

    def _wake(self) -> None:
        if not self._awake:
            self._awake = True
            asyncio.get_running_loop().call_soon(self._hand_out)

    def _hand_out(self) -> None:
        """Begin what has a place. What never waits has its turn in slices, so that the loop stays responsive."""
        self._awake = False
        self._turns += 1
        until = time.perf_counter() + SLICE_S
        for name, lane in self._lanes.items():
            while (job := lane.take()) is not None:
                if name == "instant":
                    self._drive(job)
                else:
                    asyncio.get_running_loop().create_task(self._serve(job))
                    if name == "loop" and lane.waits and id(job.ready) not in self._waited:
                        self._wake()
                        break  # the others may ride with it; if it waits, they are begun without it
                if time.perf_counter() > until:
                    self._wake()
                    return

    def _drive(self, job: _Job) -> None:
        if self._begins(job) and not _driven(self._work(job)):
            self._finish(job, TaskFailed("broken_kind", "an action that says it never waits has waited"))

    def _begins(self, job: _Job) -> bool:
        """Tell that it does, unless it was stopped: before, or by whoever was told."""
        if not job.stopped:
            _tell(job.started)
        if job.stopped:
            job.lane.leave()
        return not job.stopped

    async def _serve(self, job: _Job) -> None:
        """One attempt, and those behind it that find nothing changed: neither a cancellation nor a context variable."""
        task, context = asyncio.current_task(), copy_context()
        until = time.perf_counter() + SLICE_S
        following: _Job | None = job
        while following is not None:
            turns = self._turns
            if self._begins(following):
                following.running = task
                await self._work(following)
            if self._turns != turns:
                self._waited.add(id(following.ready))
            if job.ready.lane != "loop" or time.perf_counter() > until or not _as_before(task, context):
                self._wake()
                return
            following = job.lane.take()

    async def _work(self, job: _Job) -> None:
        try:
            answer = await run_task(job.call, job.ready, self._resources, NoteLimiter(on_the_loop(job.note)))
        except GeneratorExit:
            raise
        except asyncio.CancelledError:
            # somebody who is not us ends everything on this loop: no answer, and the attempt will be found again
            if not job.stopped:
                self._forget(job)
            return
        except BaseException as error:  # nothing a task raises may end the loop, or leave its token without an answer
            failed = failure_from(error)
            answer = TaskFailed(failed.type, failed.message, transient=failed.transient)
        self._finish(job, answer)

    def _finish(self, job: _Job, answer: TaskResult) -> None:
        if not job.stopped:
            self._forget(job)
            _tell(job.finished, answer)

    def _forget(self, job: _Job) -> None:
        job.stopped = True
        del self._jobs[job.attempt]
        job.lane.leave()
        self._wake()

    def _stop(self, job: _Job) -> None:
        """Its place is free at once, even if it takes its time to end, or never does."""
        job.stopped = True
        if job.running is not None:
            job.lane.leave()
            self._wake()
            job.running.cancel()
            self._ending.add(job.running)
            job.running.add_done_callback(self._ending.discard)


def _as_before(task: asyncio.Task[Any] | None, context: Context) -> bool:
    """Whether an attempt left its asyncio task as it found it, so that the next one may have it."""
    if task is None or task.cancelling():
        return False
    try:
        return copy_context() == context
    except Exception:  # two values of a variable that will not be compared are not the same
        return False


def _driven(work: Coroutine[object, None, None]) -> bool:
    """Run to its end what never suspends; False, and given up, if it does."""
    try:
        work.send(None)
    except StopIteration:
        return True
    work.close()
    return False


def _tell(callback: Callable[..., None], *what: object) -> None:
    """The host's callbacks may fail; the executor goes on."""
    try:
        callback(*what)
    except Exception as error:
        context = {"message": "a host failed to take what a task told it", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)
