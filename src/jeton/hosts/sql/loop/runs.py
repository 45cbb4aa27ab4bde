"""The runs in memory, and their batches: take the pending messages, advance, write, and release effects.

A run is in memory while it has pending messages, running tasks, or a commit being written. It takes its next batch when
the last one is durable, so the writer reads a state that does not change meanwhile.
"""

import asyncio
import logging
from asyncio import AbstractEventLoop, Future
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from jeton.actor.advance import LiveRun
from jeton.actor.definitions import Bundles
from jeton.actor.journal import JournalEntry
from jeton.actor.sections import load_run
from jeton.actor.starts import NewRun, StartKey, fresh_run, start_message
from jeton.actor.turn import Taken, Turn, take_turn
from jeton.actor.whole.set_aside import LOADING, places_of, set_aside_in
from jeton.actor.workers import Workers
from jeton.hosts.sql.damage import describe
from jeton.hosts.sql.failpoints import hit
from jeton.hosts.sql.loop.actor import Actor
from jeton.hosts.sql.loop.advancing import Advancing
from jeton.hosts.sql.loop.tasks import Tasks
from jeton.hosts.sql.rows import Write
from jeton.hosts.sql.store import Store
from jeton.hosts.sql.writer import Job, Writer, fail_all
from jeton.model.effect import SendMessage, StartTask, StopTask
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import CancelRun, ContinueRun, ForkRun, Message, StartRun, TaskReturned, UnpauseRun
from jeton.model.reference import parse_reference

RUNS_PER_STEP = 50

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
        advancing: Advancing,
        on_commit: Callable[[Turn], None],
        on_damage: Callable[[RunId, Refused], None],
        is_mine: Callable[[RunId], bool],
    ) -> None:
        self.actors: dict[RunId, Actor] = {}
        self.damaged: dict[RunId, Refused] = {}  # or set aside: they are left alone
        self.set_aside: dict[RunId, Refused] = set_aside_in(advancing.ends)
        self.damaged.update(self.set_aside)
        self._advancing = advancing
        self.tasks = Tasks(loop, workers, clock, self.deliver, self._flush_notices, is_mine)
        self._failed = False
        self._loop = loop
        self._store = store
        self._bundles = bundles
        self._clock = clock
        self._on_commit = on_commit
        self._on_damage = on_damage
        self._queue: deque[Actor] = deque()
        self._queued = self._advanced = 0
        self._step_scheduled = False
        self._writer: Writer | None = None
        self._deliver_stored: Callable[[int, RunId, Message], None] | None = None
        self._set_alarm: Callable[[RunId, int], None] | None = None
        self._waiting_for_idle: list[Future[None]] = []

    def connect(
        self,
        writer: Writer,
        deliver_stored: Callable[[int, RunId, Message], None],
        set_alarm: Callable[[RunId, int], None],
    ) -> None:
        """Set the writer of commits, and the functions that deliver messages of the inbox and that set alarms."""
        self._writer = writer
        self._deliver_stored = deliver_stored
        self._set_alarm = set_alarm

    def idle(self) -> "Future[None]":
        """Done when no run is in memory."""
        idle: Future[None] = self._loop.create_future()
        if self.actors:
            self._waiting_for_idle.append(idle)
        else:
            idle.set_result(None)
        return idle

    def fail(self, refused: Refused) -> None:
        """Drop every run, because nothing can be stored any more, and refuse all waiting callers."""
        waiting = [*self._waiting_for_idle]
        for actor in self.actors.values():
            for token, attempt in list(actor.running):
                self.tasks.stop(actor, StopTask(token, attempt))
            waiting += [future for _, future in (*actor.batch_callers, *actor.callers)]
        self._failed = True
        self.actors.clear()
        self._queue.clear()
        self._waiting_for_idle = []
        fail_all(waiting, refused)

    # starts

    def start(self, run: RunId, new: NewRun, key: StartKey | None) -> "Future[None]":
        """Start a new run. The future is done when it is durable."""
        actor = self._new_actor(run, new.workflow, new.version)
        actor.key = key
        self.actors[run] = actor
        return self.deliver_durably(actor, start_message(new, self._clock()))

    def _new_actor(self, run: RunId, workflow: str, version: int) -> Actor:
        return Actor(fresh_run(run, workflow, version), *self._bundles.program(workflow, version), None)

    def new_child(self, run: RunId, start: StartRun) -> Actor:
        """The actor of a run that another run called. Its start is in the inbox."""
        assert start.parent is not None, "a child is started by its parent"
        parent = self.actors.get(start.parent.run)
        row = self._store.row(start.parent.run) if parent is None else None
        if row is not None:
            caller = row.workflow, row.version
        elif parent is not None:
            caller = parent.live.state.head.workflow, parent.live.state.head.version
        else:
            raise Refused("unknown_run", f"run {start.parent.run}, which calls {run}, is not here", "verify the store")
        return self._new_actor(run, *self._bundles.child(*caller, start.workflow or ""))

    def new_fired(self, run: RunId, start: StartRun) -> Actor:
        """The actor of a run that a trigger starts. Its start is in the inbox, and names the version."""
        workflow, version = parse_reference(start.workflow or "")
        return self._new_actor(run, workflow, version or 0)

    def start_fork(self, live: LiveRun, shared: tuple[JournalEntry, ...], fork: ForkRun) -> "Future[None]":
        """Start a run that shares another run's history, which is stored with its first commit."""
        head = live.state.head
        program, bundle = self._bundles.program(head.workflow, head.version)
        actor = Actor(live, program, bundle, None)
        actor.shared, actor.hash = shared, shared[-1].hash
        self.actors[head.run] = actor
        return self.deliver_durably(actor, fork)

    # messages

    def find(self, run: RunId) -> Actor | None:
        """The run, from memory or from the store; None if there is none. Raises Refused for a damaged one."""
        actor = self.actors.get(run)
        if actor is not None:
            return actor
        if run in self.damaged:
            raise self.damaged[run]
        self._advancing.begin(run, LOADING)
        try:
            before = self._store.load(run)
            if before is None:
                return None
            live = load_run(before.sections)
            program, bundle = self._bundles.program(live.state.head.workflow, live.state.head.version)
        except Exception as problem:  # one run that cannot be read is no reason to stop the others
            raise self._mark_damaged(run, problem) from problem
        finally:
            self._advancing.finish()
        self._advancing.passed(run, LOADING)
        return Actor(live, program, bundle, before)

    def try_again(self, run: RunId, message: Message) -> bool:
        """Take up a run that is set aside, for a message that asks for it. Returns False if there is nothing to do.

        Ends are forgotten only if the run is to go on: a cancellation that ends the process is counted too."""
        if run not in self.set_aside or not isinstance(message, UnpauseRun | CancelRun):
            return False
        del self.set_aside[run], self.damaged[run]
        if isinstance(message, UnpauseRun):
            self._advancing.forget(run)
        return True

    def deliver(self, actor: Actor, message: Message) -> None:
        """Add a message to the run's next batch."""
        if self._failed:
            return
        actor.pending.append(message)
        self.actors[actor.run] = actor
        if not actor.queued and not actor.writing:
            self._enqueue(actor)

    def deliver_durably(self, actor: Actor, message: Message) -> "Future[None]":
        """The same; the future is done when the batch is durable."""
        durable: Future[None] = self._loop.create_future()
        actor.callers.append((message, durable))
        self.deliver(actor, message)
        return durable

    def return_tasks(self, actors: Sequence[Actor] | None = None) -> None:
        """Give back the attempts that are not finished here, so that they are not counted as lost."""
        for actor in list(self.actors.values()) if actors is None else actors:
            for token, attempt in sorted(actor.running) if actors is not None else ():
                self.tasks.stop(actor, StopTask(token, attempt), forget=False)
            cut, actor.running = sorted(actor.running), set()
            for token, attempt in cut:
                self.deliver(actor, TaskReturned(self._clock(), token, attempt))

    def _enqueue(self, actor: Actor) -> None:
        actor.queued = True
        self._queued += 1
        self._queue.append(actor)
        if not self._step_scheduled:
            self._step_scheduled = True
            self._loop.call_soon(self._step)

    def _flush_notices(self, actor: Actor) -> None:
        actor.flush_scheduled = False
        if actor.notices and not actor.queued and not actor.writing and self.actors.get(actor.run) is actor:
            self._enqueue(actor)

    async def drain(self) -> None:
        """Wait until every run that is queued now has been advanced."""
        so_far = self._queued
        while self._advanced < so_far and not self._failed:
            await asyncio.sleep(0)

    # batches

    def _step(self) -> None:
        """Advance some of the queued runs, then let the event loop do other work."""
        self._step_scheduled = False
        writes: list[Write | Job] = []
        try:
            for _ in range(min(len(self._queue), RUNS_PER_STEP)):
                actor = self._queue.popleft()
                try:
                    write = self._advance(actor)
                except Exception as problem:  # a bug that concerns this run alone
                    self._abandon(actor, problem)
                else:
                    if write is not None:
                        writes.append(write)
        finally:
            self._advancing.finish()  # the note of each run but the last was replaced by the next
        if self._queue and not self._step_scheduled:
            self._step_scheduled = True
            self._loop.call_soon(self._step)
        if writes and self._writer is not None:
            self._writer.submit(writes)

    def _advance(self, actor: Actor) -> Write | None:
        actor.queued = actor.alarm_pending = False
        self._advanced += 1
        places, advancing = places_of(actor.pending), self._advancing  # notices need not come again
        batch = [*actor.notices, *actor.pending]
        actor.notices, actor.pending = [], []
        actor.batch_callers, actor.callers = actor.callers, []
        shared, actor.shared = actor.shared, ()
        if actor.program.talk is not None:  # turns that begin now get the newest version
            head = actor.live.state.head
            actor.program, actor.bundle = self._bundles.newest(head.workflow, head.version)
        advancing.begin(actor.run, places)
        taken = take_turn(
            actor.program, actor.live, batch, actor.hash, partial(self._reload, actor), actor.policy, shared
        )
        if advancing.ends:
            advancing.passed(actor.run, places)
        if taken.refused or taken.run is not actor.live:
            self._refuse_unstorable(actor, taken)
        turn = taken.turn
        if turn.entry is None and not actor.inbox_rows and turn.wake == actor.wake:
            self._release(actor, turn)
            return None
        actor.hash = turn.hash
        actor.writing = True
        return Write(actor, turn)

    def _reload(self, actor: Actor) -> LiveRun:
        """The run as it was before the batch."""
        before, head = self._store.load(actor.run), actor.live.state.head
        if before is not None:
            return load_run(before.sections)
        return fresh_run(actor.run, head.workflow, head.version)

    def _refuse_unstorable(self, actor: Actor, taken: Taken) -> None:
        """Refuse the messages that were left out. The run was loaded again without them."""
        actor.live = taken.run
        refused = Refused("bad_value", f"a value cannot be stored: {taken.problem}", "send plain JSON")
        fail_all([future for message, future in actor.batch_callers if message in taken.refused], refused)

    def committed(self, writes: list[Write], jobs: list[Job]) -> None:
        """Release the effects of durable commits, and answer those who waited for them."""
        hit("before_effects")
        for write in writes:
            write.actor.writing = False
            try:
                if write.turn.entry is not None:
                    self._on_commit(write.turn)
                self._release(write.actor, write.turn)
                for number, effect in write.stored_messages:
                    self._deliver_sent(number, effect)
            except Exception as problem:
                self._abandon(write.actor, problem)
        for job in jobs:
            job.resolve()

    def _deliver_sent(self, number: int, effect: SendMessage) -> None:
        """Deliver a message to another run at once. It is in the inbox too, in case the process dies first."""
        if self._deliver_stored is not None and not self._failed:
            self._deliver_stored(number, effect.run, effect.message)

    def write_failed(self, write: Write, problem: Exception) -> None:
        """Abandon a run whose commit cannot be written, though other commits can."""
        self._abandon(write.actor, problem)

    def _abandon(self, actor: Actor, problem: Exception) -> None:
        """Leave a run as it is stored, and do not touch it until the store is opened again."""
        for token, attempt in list(actor.running):
            self.tasks.stop(actor, StopTask(token, attempt))
        refused = self._mark_damaged(actor.run, problem)
        fail_all([future for _, future in (*actor.batch_callers, *actor.callers)], refused)
        actor.batch_callers, actor.callers, actor.pending = [], [], []
        self._unload(actor)

    def _mark_damaged(self, run: RunId, problem: Exception) -> Refused:
        why = describe(problem)
        _log.error("run %s cannot go on: %s", run, why)
        refused = Refused("run_damaged", f"run {run} cannot go on: {why}", "verify the store")
        self.damaged[run] = refused
        self._on_damage(run, refused)
        return refused

    def _release(self, actor: Actor, turn: Turn) -> None:
        for effect in turn.effects:
            match effect:
                case StartTask():
                    self.tasks.start(actor, effect)
                case StopTask():
                    self.tasks.stop(actor, effect)
                case SendMessage():
                    pass  # it was stored with the commit
        for _, future in actor.batch_callers:
            if not future.done():
                future.set_result(None)
        actor.batch_callers = []
        actor.wake = turn.wake
        if turn.wake is not None and self._set_alarm is not None:
            self._set_alarm(actor.run, turn.wake)
        if turn.again:
            actor.pending.append(ContinueRun(self._clock()))
        if turn.ended:
            self.tasks.set_needs_app(actor.run, None)
            self._advancing.forget(actor.run)
        if actor.pending:
            self._enqueue(actor)
        elif turn.ended or not actor.running:
            self._unload(actor)

    def _unload(self, actor: Actor) -> None:
        self.actors.pop(actor.run, None)
        if not self.actors:
            for idle in self._waiting_for_idle:
                if not idle.done():
                    idle.set_result(None)
            self._waiting_for_idle.clear()
