"""The owner of a store: accepts starts and messages, and runs the background loops."""

import asyncio
from asyncio import Event, Future
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Protocol, TypeVar

from jeton.actor.definitions import Bundles
from jeton.actor.queries.vitals import Vitals
from jeton.actor.retention import Pruned, Rule
from jeton.actor.rows import RunRow
from jeton.actor.starts import (
    NewFork,
    NewRun,
    Started,
    StartKey,
    check_same_input,
    check_same_run,
    check_start,
    input_hash,
    plan_fork,
    run_exists,
    unknown_run,
)
from jeton.actor.turn import Turn
from jeton.actor.workers import Workers
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sql.loop.advancing import Advancing
from jeton.hosts.sql.loop.alarms import AlarmScheduler
from jeton.hosts.sql.loop.recovery import Recovery
from jeton.hosts.sql.loop.runs import Runs
from jeton.hosts.sql.loop.triggers import TriggerLoop
from jeton.hosts.sql.mirrors.artifacts import InheritanceMirror
from jeton.hosts.sql.mirrors.bundles import put_bundle
from jeton.hosts.sql.mirrors.credits import UsageMirror
from jeton.hosts.sql.mirrors.firings import FinishedMirror
from jeton.hosts.sql.mirrors.gates import GateMirror
from jeton.hosts.sql.mirrors.idempotency import share_steps
from jeton.hosts.sql.mirrors.snapshots import SnapshotMirror
from jeton.hosts.sql.mirrors.typed.mirror import TypedMirror
from jeton.hosts.sql.rows import Mirror, Write
from jeton.hosts.sql.store import Store
from jeton.hosts.sql.tools.retention import count_prunable, prune
from jeton.hosts.sql.writer import Job, Writer, fail_all
from jeton.model.definition.agent import agent_of
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import Message, StartRun, UnpauseRun
from jeton.model.state.run import TERMINAL
from jeton.planning.edits import check_edits

Value = TypeVar("Value")


class Possession(Protocol):
    """What a process has of a store that it owns, or of which it owns a part."""

    @property
    def advancing(self) -> Advancing:
        """Which run is being advanced, for the process that comes after a sudden end."""
        ...

    def is_mine(self, run: RunId) -> bool:
        """Whether this process advances the run."""
        ...

    def new_run_id(self, now: int) -> RunId:
        """The id of a new run that this process advances."""
        ...

    def keeps_triggers(self) -> bool:
        """Whether this process fires the triggers."""
        ...

    def make_writer(
        self,
        mirrors: Sequence[Mirror],
        on_commit: Callable[[list[Write], list[Job]], None],
        on_bad_write: Callable[[Write, Exception], None],
        on_foreign_write: Callable[[], None],
        on_failure: Callable[[Exception], None],
    ) -> Writer:
        """The writer of the store."""
        ...

    def refusal(self, problem: Exception) -> Refused:
        """What callers are told after a write that failed."""
        ...

    def release(self) -> None:
        """Give up the store."""
        ...


MIRRORS = TypedMirror, SnapshotMirror, GateMirror, InheritanceMirror, UsageMirror


class Owner:
    """Made by a process that owns a store, or a part of it. Ends with `close`, or with the first write that fails."""

    def __init__(
        self,
        possession: Possession,
        store: Store,
        bundles: Bundles,
        workers: Workers | None,
        clock: Callable[[], int],
        wall: Callable[[], int],
        mirrors: Sequence[Mirror] = (),
    ) -> None:
        loop = asyncio.get_running_loop()
        self._loop = loop
        self._possession = possession
        self._store = store
        self._bundles = bundles
        self._workers = workers
        self.clock = clock
        self._wall = wall
        self._refusing: Refused | None = None
        self._closed = False
        self._starting: dict[tuple[str, str], tuple[StartKey, Future[None]]] = {}
        self._end_waiters: dict[RunId, list[Future[RunRow]]] = {}
        self._listeners: dict[RunId, set[Event]] = {}
        self._line_listeners: set[Event] = set()
        self._inbox_changed = Event()
        finished = FinishedMirror()
        self._advancing = possession.advancing
        self.runs = Runs(
            loop,
            store,
            bundles,
            workers,
            clock,
            self._advancing,
            self._on_commit,
            self._on_damage,
            possession.is_mine,
        )
        self._writer = possession.make_writer(
            (*(mirror() for mirror in MIRRORS), *mirrors, finished),
            self.runs.committed,
            self.runs.write_failed,
            self._on_foreign_write,
            self._on_failure,
        )
        self._alarms = AlarmScheduler(loop, store, self.runs, clock, wall, self._flush)
        self._recovery = Recovery(store, self.runs, clock, wall, self._flush, possession.is_mine)
        self.runs.connect(self._writer, self._recovery.deliver_stored, self._alarms.schedule)
        on_fired = self._inbox_changed.set
        keeps = possession.keeps_triggers
        self.triggers = TriggerLoop(store, bundles, self._writer.transact, clock, wall, finished, keeps, on_fired)
        loops = (
            self._alarms.run(),
            self._recovery.run(),
            self._recovery.run_inbox(self._inbox_changed),
            self.triggers.run(),
        )
        self._loops = [loop.create_task(each) for each in loops]

    # requests

    async def deploy(self, bundle: Library, name: str) -> int:
        """Store a version of a workflow, unless it is stored already. Returns its number."""
        self.check()
        if not (name in bundle.workflows or name in bundle.flows or agent_of(name) in bundle.agents):
            raise Refused("unknown_workflow", f"the bundle has no workflow '{name}'", "name one that it has")
        now = self._wall()
        version = await self._writer.transact(lambda db: put_bundle(db, name, bundle, now))
        self._bundles.set_newest(name, version)
        return version

    async def start(self, new: NewRun) -> Started:
        """Start a run, unless its key or its name says that it was started before."""
        self.check()
        check_start(new)
        if new.key is not None:
            return await self._start_by_key(new, new.key)
        if new.run is not None and await self._was_started(new.run, new):
            return Started(new.run, new=False)
        chosen = new.run or self._possession.new_run_id(self.clock())
        await self.runs.start(chosen, new, None)
        return Started(chosen, new=True)

    async def _start_by_key(self, new: NewRun, key: str) -> Started:
        """One run per workflow and key, whatever the version."""
        place = (new.workflow, key)
        given = input_hash(new)
        under_way = self._starting.get(place)
        known = self._store.start_key(*place) if under_way is None else under_way[0]
        if known is not None:
            check_same_input(known, given)
            if under_way is not None:
                await asyncio.shield(under_way[1])
            return Started(known.run, new=False)
        chosen = new.run or self._possession.new_run_id(self.clock())
        if new.run is not None and self.runs.find(new.run) is not None:
            raise run_exists(new.run)
        row = StartKey(new.workflow, key, chosen, given)
        durable = self.runs.start(chosen, new, row)
        self._starting[place] = (row, durable)
        durable.add_done_callback(lambda _: self._starting.pop(place, None))
        await asyncio.shield(durable)
        return Started(chosen, new=True)

    async def _was_started(self, run: RunId, new: NewRun) -> bool:
        """Whether the run of this name exists and is durable. Raises Refused if it is not the run to be started."""
        actor = self.runs.find(run)
        if actor is None:
            return False
        state = actor.live.state
        check_same_run(run, state.head.workflow, state.input if state.head.entries else _input_in(actor.pending), new)
        await self.runs.deliver_durably(actor, StartRun(self.clock(), new.input))  # a second start changes nothing
        return True

    async def fork(self, fork: NewFork) -> RunId:
        """Start a run that shares another run's history up to an entry."""
        self.check()
        row = self._store.row(fork.run)
        if row is None:
            raise unknown_run(fork.run)
        entries = await asyncio.to_thread(self._store.entries, fork.run)
        planned = plan_fork(fork, row, entries, self._possession.new_run_id(self.clock()), self.clock())
        chosen = planned.live.state.head.run
        check_edits(self._bundles.program(row.workflow, row.version)[0], planned.live.state, fork.writes)
        if planned.sleeping:
            await self._writer.transact(partial(share_steps, run=fork.run, fork=chosen, slept=planned.sleeping))
        await self.runs.start_fork(planned.live, planned.shared, planned.message)
        return chosen

    async def deliver(self, run: RunId, message: Message) -> None:
        """Send a run a message. Durable when this returns."""
        self.check()
        if run in self.runs.set_aside:
            await self._recovery.deliver_inbox()  # what waits for the run is held back, and may be its start
        actor, message = self._recovery.take_up(run, message)
        if actor is None:
            raise unknown_run(run)
        durable = self.runs.deliver_durably(actor, message)
        self._recovery.deliver_held(run)
        await durable
        if type(message) is UnpauseRun:
            self._recovery.recover_run(run)

    async def ended(self, run: RunId) -> RunRow:
        """Wait until a run has ended."""
        self.check(run)
        actor = self.runs.actors.get(run)
        if actor is None or actor.live.state.head.ended:
            row = self._store.row(run)
            if row is None and actor is None:
                raise unknown_run(run)
            if row is not None and row.status in TERMINAL:
                return row
        ended: Future[RunRow] = self._loop.create_future()
        waiters = self._end_waiters.setdefault(run, [])
        waiters.append(ended)
        try:
            return await ended
        finally:
            waiters.remove(ended)
            if not waiters and self._end_waiters.get(run) is waiters:
                del self._end_waiters[run]

    async def idle(self) -> None:
        """Wait until nothing can go on by itself: all runs have ended, or wait for a time or for people."""
        while True:
            fired = self.triggers.fired
            await self.recover()
            if not self.runs.actors:
                await self.triggers.fire_due()  # for what ended, or was published, since `recover`
                if self.triggers.fired == fired:
                    return
            await self.runs.idle()

    async def recover(self) -> None:
        """Fire due triggers, deliver stored messages, start lost tasks again, and deliver due alarms, now."""
        self.check()
        await self.triggers.fire_due()
        await self._recovery.deliver_inbox()
        await self._recovery.recover_tasks()
        await self._alarms.deliver_due()

    async def write(self, act: Callable[[Connection], Value], *, overwrite: bool = False) -> Value:
        """Write in a transaction of the writer. Durable when this returns. `overwrite` what is deleted in it.

        Also while the store is being closed: a task that finishes within the grace time must not fail for it. The
        writer refuses once it is closed or has failed."""
        return await self._writer.transact(act, overwrite=overwrite)

    async def prune(self, rules: Sequence[Rule], *, dry_run: bool) -> Pruned:
        """Prune in small transactions, between those of the runs."""
        self.check()
        return await (count_prunable if dry_run else prune)(self._writer.transact, rules, self.clock())

    @contextmanager
    def listen(self, run: RunId) -> Generator[Event]:
        """An event that is set after each commit of the run."""
        changed = Event()
        self._listeners.setdefault(run, set()).add(changed)
        try:
            yield changed
        finally:
            self._listeners[run].discard(changed)
            if not self._listeners[run]:
                del self._listeners[run]

    @contextmanager
    def listen_line(self) -> Generator[Event]:
        """An event that is set after each commit of any run."""
        changed = Event()
        self._line_listeners.add(changed)
        try:
            yield changed
        finally:
            self._line_listeners.discard(changed)

    def check(self, run: RunId | None = None) -> None:
        """Raise Refused if the store was closed or has failed, or if the run is damaged."""
        if self._refusing is not None:
            raise self._refusing
        if run is not None and run in self.runs.damaged:
            raise self.runs.damaged[run]

    def notice_messages(self) -> None:
        """Look at the inbox, because another process may have stored a message."""
        self._inbox_changed.set()

    async def hand_over(self, leaving: Callable[[RunId], bool]) -> None:
        """Let go of runs that are no longer this process's: give back their tasks, and wait until all is written."""
        while actors := [actor for actor in self.runs.actors.values() if leaving(actor.run)]:
            self.runs.return_tasks(actors)
            await self._flush()

    async def abandon(self) -> None:
        """Give up after a failed write. The workers go on, for the owner that comes next."""
        self._closed = True
        for task in self._loops:
            task.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        await self._writer.close()

    async def close(self, grace_s: float) -> None:
        """Accept nothing more, let running tasks finish within the grace time, and leave the rest to the next owner."""
        if self._closed:
            return
        self._closed = True
        failed = self._refusing is not None
        self._refusing = self._refusing or Refused("store_closed", "the store is being closed", "open it again")
        self.runs.tasks.stopping = True
        for task in self._loops:
            task.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        try:
            if self._workers is not None:
                await self._workers.close(0 if failed else grace_s)
                self.runs.return_tasks()
            while not failed and any(actor.queued or actor.writing for actor in self.runs.actors.values()):
                await self._flush()
        finally:
            await self._writer.close()
            self._refuse_waiters(self._refusing)
            self._advancing.close()
            self._possession.release()

    # callbacks

    def _on_commit(self, turn: Turn) -> None:
        head = turn.head
        if head.ended:
            row = turn.row
            self.triggers.notify_ended(row)
            for ended in self._end_waiters.pop(row.run, ()):
                if not ended.done():
                    ended.set_result(row)
        self._wake_listeners(head.run)

    def _on_damage(self, run: RunId, refused: Refused) -> None:
        fail_all(self._end_waiters.pop(run, ()), refused)
        self._wake_listeners(run)

    def _on_foreign_write(self) -> None:
        self._inbox_changed.set()
        for changed in self._line_listeners:  # it may have imported a run
            changed.set()

    def _wake_listeners(self, run: RunId) -> None:
        for changed in self._listeners.get(run, ()):
            changed.set()
        for changed in self._line_listeners:
            changed.set()

    def _on_failure(self, problem: Exception) -> None:
        """A write failed: stop. Everything that was acknowledged is in the store."""
        self._refusing = self._possession.refusal(problem)
        for task in self._loops:
            task.cancel()
        self._refuse_waiters(self._refusing)

    def vitals(self) -> Vitals:
        """How it fares, without what is in the file."""
        writer = self._writer
        return Vitals(
            commits=writer.commits,
            commit_s=writer.commit_s,
            commit_entries=writer.commit_entries,
            actors=len(self.runs.actors),
            tasks=sum(len(actor.running) for actor in self.runs.actors.values()),
            failed=None if self._refusing is None else self._refusing.code,
        )

    async def _flush(self) -> None:
        """Wait until everything that was delivered so far is durable."""
        await self.runs.drain()
        await self._writer.transact(_no_op)

    def _refuse_waiters(self, refused: Refused) -> None:
        self.runs.fail(refused)
        self._writer.fail(refused)
        for waiters in self._end_waiters.values():
            fail_all(waiters, refused)
        self._end_waiters.clear()
        for listeners in (*self._listeners.values(), self._line_listeners):
            for changed in listeners:
                changed.set()


def _input_in(pending: Sequence[Message]) -> Json:
    return next((message.input for message in pending if isinstance(message, StartRun)), None)


def _no_op(_: Connection) -> None:
    pass
