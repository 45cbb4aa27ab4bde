"""The runs under way in this process, and the road of a batch: take what waits, advance, write, and only then let out.

A run is here while something of it is in work or on its way to the disk. It takes its next batch when the last one is
durable: whatever arrives in the meantime is one batch, and what the writer reads of a run does not move under it.
"""

import asyncio
import logging
from asyncio import AbstractEventLoop, Future
from collections import deque
from collections.abc import Callable
from functools import partial

from jeton.actor.advance import LiveRun
from jeton.actor.definitions import Bundles
from jeton.actor.journal import JournalEntry
from jeton.actor.sections import load_run
from jeton.actor.starts import NewRun, StartKey, fresh_run, start_message
from jeton.actor.turn import Taken, Turn, take_turn
from jeton.actor.workers import Workers
from jeton.hosts.sqlite.commit.rows import Write
from jeton.hosts.sqlite.commit.writer import Job, Writer
from jeton.hosts.sqlite.file.damage import why_damaged
from jeton.hosts.sqlite.file.failpoints import hit
from jeton.hosts.sqlite.loop.actor import Actor
from jeton.hosts.sqlite.store import Store
from jeton.model.definition.task import Suspended, Task
from jeton.model.effect import SendMessage, StartTask, StopTask
from jeton.model.failure import BrokenInvariant, Refused, TaskFailed
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import (
    ContinueRun,
    ForkRun,
    Message,
    StartRun,
    TaskFinished,
    TaskNoted,
    TaskStarted,
    TaskSuspended,
)
from jeton.model.note import Note

RUNS_PER_TURN = 50
NOTED_WITHIN_S = 1.0

_log = logging.getLogger("jeton.store")


class Runs:
    """All runs in memory. Everything here happens on the event loop."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        store: Store,
        bundles: Bundles,
        workers: Workers | None,
        clock: Callable[[], int],
        committed: Callable[[Turn], None],
        wants_alarm: Callable[[RunId, int], None],
        stuck: Callable[[RunId, Refused], None],
    ) -> None:
        self.actors: dict[RunId, Actor] = {}
        self.needs_app: dict[RunId, str] = {}
        self.damaged: dict[RunId, Refused] = {}
        self.stopping = False
        self._failed = False
        self._loop = loop
        self._store = store
        self._bundles = bundles
        self._workers = workers
        self._clock = clock
        self._tell_committed = committed
        self._tell_wake = wants_alarm
        self._tell_stuck = stuck
        self._ready: deque[Actor] = deque()
        self._queued = self._advanced = 0
        self._turning = False
        self._found: set[tuple[str, int, str]] = set()  # nodes whose tasks can be run here
        self._writer: Writer | None = None
        self._hand_in: Callable[[int, RunId, Message], None] | None = None
        self._on_quiet: list[Future[None]] = []

    def write_to(self, writer: Writer) -> None:
        self._writer = writer

    def hand_in_by(self, hand_in: Callable[[int, RunId, Message], None]) -> None:
        self._hand_in = hand_in

    def quiet(self) -> "Future[None]":
        """Done when no run is in memory any more."""
        answer: Future[None] = self._loop.create_future()
        if self.actors:
            self._on_quiet.append(answer)
        else:
            answer.set_result(None)
        return answer

    def fail(self, refused: Refused) -> None:
        """Nothing that is not durable ever was: forget every run, and tell all who wait."""
        waiting = [*self._on_quiet]
        for actor in self.actors.values():
            waiting += [answer for _, answer in (*actor.asked, *actor.askers)]
        self._failed = True
        self.actors.clear()
        self._ready.clear()
        self._on_quiet = []
        for answer in waiting:
            if not answer.done():
                answer.set_exception(refused)

    # coming in

    def begin(self, run: RunId, new: NewRun, key: StartKey | None) -> "Future[None]":
        """Start a new run. The future is done when it is durable."""
        actor = self._fresh(run, new.workflow, new.version)
        actor.key = key
        self.actors[run] = actor
        return self.ask(actor, start_message(new, self._clock()))

    def _fresh(self, run: RunId, workflow: str, version: int) -> Actor:
        return Actor(fresh_run(run, workflow, version), *self._bundles.program(workflow, version), None)

    def begin_child(self, run: RunId, start: StartRun) -> Actor:
        """A run that another one called. It is durable as a message already."""
        assert start.parent is not None, "a child is started by its parent"
        parent = self.actors.get(start.parent.run)
        row = self._store.row(start.parent.run) if parent is None else None
        if row is not None:
            caller = row.workflow, row.version
        elif parent is not None:
            caller = parent.live.state.head.workflow, parent.live.state.head.version
        else:
            raise Refused("unknown_run", f"run {start.parent.run}, which calls {run}, is not here", "verify the store")
        return self._fresh(run, *self._bundles.child(*caller, start.workflow or ""))

    def begin_fired(self, run: RunId, start: StartRun) -> Actor:
        """A run that a trigger starts. It is durable as a message already, which names the version."""
        workflow, _, version = (start.workflow or "").partition("@")
        return self._fresh(run, workflow, int(version or 0))

    def begin_fork(self, live: LiveRun, shared: tuple[JournalEntry, ...], fork: ForkRun) -> "Future[None]":
        """A run that shares another's history; all of it is stored with its first commit."""
        head = live.state.head
        program, bundle = self._bundles.program(head.workflow, head.version)
        actor = Actor(live, program, bundle, None)
        actor.shared, actor.hash = shared, shared[-1].hash
        self.actors[head.run] = actor
        return self.ask(actor, fork)

    def find(self, run: RunId) -> Actor | None:
        """The run, from memory or from the store; None if nobody started it."""
        actor = self.actors.get(run)
        if actor is not None:
            return actor
        if run in self.damaged:
            raise self.damaged[run]
        try:
            before = self._store.load(run)
            if before is None:
                return None
            live = load_run(before.sections)
            program, bundle = self._bundles.program(live.state.head.workflow, live.state.head.version)
        except Exception as problem:  # one run that cannot be read is no reason to stop the others
            raise self._note_damage(run, problem) from problem
        return Actor(live, program, bundle, before)

    def tell(self, actor: Actor, message: Message) -> None:
        """Have the run take a message with its next batch."""
        if self._failed:
            return
        actor.waiting.append(message)
        self.actors[actor.run] = actor
        if not actor.queued and not actor.writing:
            self._queue(actor)

    def ask(self, actor: Actor, message: Message) -> "Future[None]":
        """The same; the future is done when the batch is durable."""
        answer: Future[None] = self._loop.create_future()
        actor.askers.append((message, answer))
        self.tell(actor, message)
        return answer

    def _queue(self, actor: Actor) -> None:
        actor.queued = True
        self._queued += 1
        self._ready.append(actor)
        if not self._turning:
            self._turning = True
            self._loop.call_soon(self._turn)

    async def caught_up(self) -> None:
        """Wait until whoever has something to do by now has done it; those who come later are not waited for."""
        so_far = self._queued
        while self._advanced < so_far and not self._failed:
            await asyncio.sleep(0)

    # the road of a batch

    def _turn(self) -> None:
        """Advance a stretch of those that have something to do; then others on the loop have theirs."""
        self._turning = False
        writes: list[Write | Job] = []
        for _ in range(min(len(self._ready), RUNS_PER_TURN)):
            actor = self._ready.popleft()
            try:
                write = self._advance(actor)
            except Exception as problem:  # our bug; the others of this turn have nothing to do with it
                self._give_up(actor, problem)
            else:
                if write is not None:
                    writes.append(write)
        if self._ready and not self._turning:
            self._turning = True
            self._loop.call_soon(self._turn)
        if writes and self._writer is not None:
            self._writer.put(writes)

    def _advance(self, actor: Actor) -> Write | None:
        actor.queued = actor.ringing = False
        self._advanced += 1
        batch = [*actor.began, *actor.waiting]
        actor.began, actor.waiting = [], []
        actor.asked, actor.askers = actor.askers, []
        shared, actor.shared = actor.shared, ()
        taken = take_turn(
            actor.program,
            actor.live,
            batch,
            actor.hash,
            partial(self._reload, actor),
            policy=actor.policy,
            shared=shared,
        )
        if taken.refused or taken.run is not actor.live:
            self._refuse(actor, taken)
        turn = taken.turn
        if turn.entry is None and not actor.answering and turn.wake == actor.wake:
            self._settle(actor, turn)
            return None
        actor.hash = turn.hash
        actor.writing = True
        return Write(actor, turn)

    def _reload(self, actor: Actor) -> LiveRun:
        """The run as it is stored: what was planned on top of that cannot be."""
        before, head = self._store.load(actor.run), actor.live.state.head
        if before is not None:
            return load_run(before.sections)
        return fresh_run(actor.run, head.workflow, head.version)

    def _refuse(self, actor: Actor, taken: Taken) -> None:
        """Tell those whose messages were left out; the run goes on from what is stored."""
        actor.live = taken.run
        refused = Refused("bad_value", f"a value cannot be stored: {taken.problem}", "send plain JSON")
        for message, answer in actor.asked:
            if message in taken.refused and not answer.done():
                answer.set_exception(refused)

    def written(self, writes: list[Write], jobs: list[Job]) -> None:
        """After the commit: only now does anything leave."""
        hit("before_effects")
        for write in writes:
            write.actor.writing = False
            try:
                if write.turn.entry is not None:
                    self._tell_committed(write.turn)
                self._settle(write.actor, write.turn)
                for number, effect in write.posted:
                    self._post(number, effect)
            except Exception as problem:
                self._give_up(write.actor, problem)
        for job in jobs:
            job.tell()

    def _post(self, number: int, effect: SendMessage) -> None:
        """It is in the inbox since the commit; whoever it is for need not wait until somebody looks there."""
        if self._hand_in is not None and not self._failed:
            self._hand_in(number, effect.run, effect.message)

    def spoiled(self, write: Write, problem: Exception) -> None:
        """This commit cannot be written, though the store can: our bug, and the run's alone."""
        self._give_up(write.actor, problem)

    def _give_up(self, actor: Actor, problem: Exception) -> None:
        """Leave the run as it is stored, and alone until the store is opened again."""
        for token, attempt in list(actor.out):
            self._stop_task(actor, StopTask(token, attempt))
        refused = self._note_damage(actor.run, problem)
        for _, answer in (*actor.asked, *actor.askers):
            if not answer.done():
                answer.set_exception(refused)
        actor.asked, actor.askers, actor.waiting = [], [], []
        self._drop(actor)

    def _note_damage(self, run: RunId, problem: Exception) -> Refused:
        why = why_damaged(problem)
        _log.error("run %s cannot go on: %s", run, why)
        refused = Refused("run_damaged", f"run {run} cannot go on: {why}", "verify the store")
        self.damaged[run] = refused
        self._tell_stuck(run, refused)
        return refused

    def _settle(self, actor: Actor, turn: Turn) -> None:
        for effect in turn.effects:
            match effect:
                case StartTask():
                    self._start_task(actor, effect)
                case StopTask():
                    self._stop_task(actor, effect)
                case SendMessage():
                    pass  # it was stored with the commit
        for _, answer in actor.asked:
            if not answer.done():
                answer.set_result(None)
        actor.asked = []
        actor.wake = turn.wake
        if turn.wake is not None:
            self._tell_wake(actor.run, turn.wake)
        if turn.again:
            actor.waiting.append(ContinueRun(self._clock()))
        if turn.ended:
            self.note_needs_app(actor.run, None)
        if actor.waiting:
            self._queue(actor)
        elif turn.ended or not actor.out:
            self._drop(actor)

    def _drop(self, actor: Actor) -> None:
        self.actors.pop(actor.run, None)
        if not self.actors:
            for answer in self._on_quiet:
                if not answer.done():
                    answer.set_result(None)
            self._on_quiet.clear()

    # tasks

    def missing(self, actor: Actor, node: str) -> str | None:
        """Which function the node's task needs and nobody here has."""
        head = actor.live.state.head
        place = (head.workflow, head.version, node)
        if place in self._found:
            return None
        if self._workers is None:
            return "no tasks are run here"
        missing = self._workers.missing(_task(actor, node), actor.bundle)
        if missing is None:
            self._found.add(place)
        return missing

    def note_needs_app(self, run: RunId, function: str | None) -> None:
        """Note which function a run lacks here, or that it lacks none."""
        if function is None:
            self.needs_app.pop(run, None)
        else:
            self.needs_app[run] = function

    def _start_task(self, actor: Actor, effect: StartTask) -> None:
        """Unless a worker has this very attempt already; while the host closes, it is left for the next owner."""
        attempt = (effect.token, effect.attempt)
        if attempt in actor.out or self.stopping:
            return
        missing = self.missing(actor, effect.node)
        if missing is not None or self._workers is None:
            self.note_needs_app(actor.run, missing or "")
            return

        def started() -> None:
            if attempt in actor.out:
                actor.began.append(TaskStarted(self._clock(), *attempt))

        def noted(note: Note) -> None:
            if attempt in actor.out:
                actor.began.append(TaskNoted(self._clock(), *attempt, note))
                if not actor.noting:
                    actor.noting = True
                    self._loop.call_later(NOTED_WITHIN_S, self._note, actor)

        def finished(answer: Json | TaskFailed | Suspended) -> None:
            if attempt not in actor.out:
                return  # it was stopped, or has been told before
            actor.out.discard(attempt)
            if type(answer) is TaskFailed:
                self.tell(actor, TaskFinished(self._clock(), *attempt, failure=answer))
            elif type(answer) is Suspended:
                self.tell(actor, TaskSuspended(self._clock(), *attempt, answer.until, answer.sleep))
            else:
                self.tell(actor, TaskFinished(self._clock(), *attempt, answer))

        actor.out.add(attempt)
        try:
            self._workers.start(actor.run, effect, _task(actor, effect.node), actor.bundle, started, noted, finished)
        except Exception as problem:
            _log.exception("a task of run %s could not be started", actor.run)
            finished(TaskFailed("executor_error", f"{type(problem).__name__}: {problem}", transient=True))

    def _note(self, actor: Actor) -> None:
        """A long task may say a lot before its run has anything else to commit: it is heard all the same."""
        actor.noting = False
        if actor.began and not actor.queued and not actor.writing and self.actors.get(actor.run) is actor:
            self._queue(actor)

    def _stop_task(self, actor: Actor, effect: StopTask) -> None:
        attempt = (effect.token, effect.attempt)
        if attempt in actor.out and self._workers is not None:
            actor.out.discard(attempt)
            self._workers.stop(actor.run, effect)


def _task(actor: Actor, node: str) -> Task:
    task = actor.program.nodes[node].task
    if task is None:
        raise BrokenInvariant("a task was asked for at a node without one", node=node)
    return task
