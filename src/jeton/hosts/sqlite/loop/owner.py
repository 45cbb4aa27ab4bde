"""The half of the host that owns the store: it takes starts and messages, and keeps alarms and recovery going."""

import asyncio
import hashlib
import logging
from asyncio import Event, Future
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from jeton.actor.fork import shared_history
from jeton.actor.journal import chained
from jeton.actor.replay import replay
from jeton.actor.rows import RunRow
from jeton.actor.storable import check_storable
from jeton.actor.turn import Turn
from jeton.actor.workers import Workers
from jeton.hosts.sqlite.commit.rows import Mirror
from jeton.hosts.sqlite.commit.writer import Writer
from jeton.hosts.sqlite.file.connect import Connection, Durability, refusal
from jeton.hosts.sqlite.file.lock import OwnerLock
from jeton.hosts.sqlite.loop.alarms import Alarms
from jeton.hosts.sqlite.loop.ids import new_run_id
from jeton.hosts.sqlite.loop.recovery import Recovery
from jeton.hosts.sqlite.loop.runs import Runs
from jeton.hosts.sqlite.loop.triggers import Triggers
from jeton.hosts.sqlite.mirrors.bundles import Bundles, put_bundle
from jeton.hosts.sqlite.mirrors.firings import FinishedMirror
from jeton.hosts.sqlite.mirrors.idempotency import share_steps
from jeton.hosts.sqlite.store import Store
from jeton.hosts.sqlite.tools.retention import Pruned, Rule, prune
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.message import ForkRun, Message, StartRun
from jeton.model.state.run import TERMINAL, FiredBy, Head
from jeton.planning.edits import check_edits

_log = logging.getLogger("jeton.store")
Value = TypeVar("Value")

_canonical = msgspec.json.Encoder(order="deterministic").encode


class Owner:
    """Made when the lock is held; ends with `close`, or with the first write that fails."""

    def __init__(
        self,
        path: Path,
        lock: OwnerLock,
        epoch: int,
        store: Store,
        bundles: Bundles,
        workers: Workers | None,
        durability: Durability,
        clock: Callable[[], int],
        mirrors: Sequence[Mirror],
    ) -> None:
        loop = asyncio.get_running_loop()
        self._loop = loop
        self._lock = lock
        self._store = store
        self._bundles = bundles
        bundles.own()
        self._workers = workers
        self.clock = clock
        self._refusing: Refused | None = None
        self._closed = False
        self._starting: dict[tuple[str, str], tuple[RunId, bytes, Future[None]]] = {}
        self._endings: dict[RunId, list[Future[RunRow]]] = {}
        self._bells: dict[RunId, set[Event]] = {}
        finished = FinishedMirror()
        self.runs = Runs(loop, store, bundles, workers, clock, self._committed, self._wants_alarm, self._stuck)
        self._writer = Writer(
            path,
            durability,
            epoch,
            loop,
            (*mirrors, finished),
            self.runs.written,
            self.runs.spoiled,
            self._noticed,
            self._fail,
        )
        self.runs.write_to(self._writer)
        self._alarms = Alarms(loop, store, self.runs, clock, self._breath)
        self._recovery = Recovery(store, self.runs, clock, self._breath)
        self.runs.hand_in_by(self._recovery.hand_in)
        self._mail = Event()
        self.triggers = Triggers(store, bundles, self._writer.do, clock, finished, self._mail.set)
        keepers = (
            self._alarms.keep(),
            self._recovery.keep(),
            self._recovery.keep_reading(self._mail),
            self.triggers.keep(),
        )
        self._keepers = [loop.create_task(keeper) for keeper in keepers]

    # what people do

    async def deploy(self, bundle: Library, name: str) -> int:
        """Store a version, or find that it is stored."""
        self.check()
        if name not in bundle.workflows and name not in bundle.flows:
            raise Refused("unknown_workflow", f"the bundle has no workflow '{name}'", "name one that it has")
        version = await self._writer.do(lambda db: put_bundle(db, name, bundle))
        self._bundles.deployed(name, version)
        return version

    async def start(
        self,
        workflow: str,
        version: int,
        input: Json,
        key: str | None,
        run: RunId | None,
        overrides: dict[str, JsonObject],
        trigger: FiredBy | None,
        credits: int | None,
    ) -> tuple[RunId, bool]:
        """Begin a run, unless the key or the name says that it has begun."""
        self.check()
        if overrides or credits is not None:  # the input may be any JSON, and is looked at when it is stored
            check_storable(StartRun(0, None, overrides=overrides, credits=credits))
        if key is not None:
            return await self._start_by_key(workflow, version, input, key, run, overrides, trigger, credits)
        if run is not None and await self._has_begun(run, workflow, input):
            return run, False
        chosen = run or new_run_id(self.clock())
        await self.runs.begin(chosen, workflow, version, input, None, overrides, trigger, credits)
        return chosen, True

    async def _start_by_key(
        self,
        workflow: str,
        version: int,
        input: Json,
        key: str,
        run: RunId | None,
        overrides: dict[str, JsonObject],
        trigger: FiredBy | None,
        credits: int | None,
    ) -> tuple[RunId, bool]:
        """One run per workflow and key, whatever the version."""
        asked = (workflow, key)
        given = hashlib.sha256(_canonical([input, overrides] if overrides else input)).digest()
        under_way = self._starting.get(asked)
        known = self._store.started(workflow, key) if under_way is None else under_way[:2]
        if known is not None:
            if known[1] != given:
                problem = f"the key '{key}' has begun run {known[0]}, with other input"
                raise Refused("key_conflict", problem, "use another key, or the same input")
            if under_way is not None:
                await asyncio.shield(under_way[2])
            return known[0], False
        chosen = run or new_run_id(self.clock())
        if run is not None and self.runs.find(run) is not None:
            raise _taken(run)
        row = workflow, key, chosen, given
        durable = self.runs.begin(chosen, workflow, version, input, row, overrides, trigger, credits)
        self._starting[asked] = (chosen, given, durable)
        durable.add_done_callback(lambda _: self._starting.pop(asked, None))
        await asyncio.shield(durable)
        return chosen, True

    async def _has_begun(self, run: RunId, workflow: str, input: Json) -> bool:
        """Whether the run of this name is the one that is asked for, and durable; another one is refused."""
        actor = self.runs.find(run)
        if actor is None:
            return False
        begun = actor.live.state.input if actor.live.state.head.entries else _input_of(actor.waiting)
        if actor.live.state.head.workflow != workflow or _canonical(begun) != _canonical(input):
            raise _taken(run)
        await self.runs.ask(actor, StartRun(self.clock(), input))  # a second start changes nothing
        return True

    async def fork(self, run: RunId, entry: int, writes: dict[str, Json], *, again: bool, credits: int) -> RunId:
        """Begin a run that shares another's history up to an entry."""
        self.check()
        row = self._store.row(run)
        if row is None:
            raise unknown(run)
        if row.parent is not None:
            problem = f"run {run} was called by run {row.parent.run}, and goes on only with it"
            raise Refused("child_run", problem, f"fork its root, {row.parent.root}")
        entries = await asyncio.to_thread(self._store.entries, run)
        if len(entries) != row.entries:
            raise Refused("history_pruned", f"the first entries of run {run} are not kept any more", "start a new run")
        history = shared_history(entries, entry)
        fork = ForkRun(self.clock(), run, entry, history[-1].at, writes, again, credits)
        check_storable(fork)
        chosen = new_run_id(self.clock())
        live = replay(Head(chosen, row.workflow, row.version), history)
        check_edits(self._bundles.program(row.workflow, row.version)[0], live.state, writes)
        slept = {token.id: sleep for token in live.state.tokens.values() if (sleep := token.last_sleep) is not None}
        if slept and not writes:  # with an edited state, work that was under way begins anew
            await self._writer.do(partial(share_steps, run=run, fork=chosen, slept=slept))
        await self.runs.begin_fork(live, chained(chosen, history), fork)
        return chosen

    async def deliver(self, run: RunId, message: Message) -> None:
        """Durable when this returns."""
        self.check()
        actor = self.runs.find(run)
        if actor is None:
            raise unknown(run)
        await self.runs.ask(actor, message)

    async def ended(self, run: RunId) -> RunRow:
        """The row of the run, once it has ended."""
        self.check(run)
        actor = self.runs.actors.get(run)
        if actor is None or actor.live.state.head.ended:
            row = self._store.row(run)
            if row is None and actor is None:
                raise unknown(run)
            if row is not None and row.status in TERMINAL:
                return row
        answer: Future[RunRow] = self._loop.create_future()
        waiting = self._endings.setdefault(run, [])
        waiting.append(answer)
        try:
            return await answer
        finally:
            waiting.remove(answer)
            if not waiting and self._endings.get(run) is waiting:
                del self._endings[run]

    async def idle(self) -> None:
        """Wait until nothing can go on by itself: all runs have ended, or wait for a time or for people."""
        while True:
            fired = self.triggers.fired
            await self.recover()
            if not self.runs.actors:
                await self.triggers.look()  # what ended, or was published, since recovery looked
                if self.triggers.fired == fired:
                    return
            await self.runs.quiet()

    async def recover(self) -> None:
        """Hand in all that the store owes its runs; changes nothing when it owes nothing."""
        self.check()
        await self.triggers.look()
        await self._recovery.take_inbox()
        await self._recovery.ask_after_tasks()
        await self._alarms.look()

    async def write(self, act: Callable[[Connection], Value]) -> Value:
        """Carry something out in a transaction among those of the runs; durable when this returns."""
        self.check()
        return await self._writer.do(act)

    async def prune(self, rules: Sequence[Rule]) -> Pruned:
        """Each step is a transaction of its own, between those of the runs."""
        self.check()
        return await prune(self._writer.do, rules, self.clock())

    @contextmanager
    def listening(self, run: RunId) -> Generator[Event]:
        """Set after each commit of the run."""
        bell = Event()
        self._bells.setdefault(run, set()).add(bell)
        try:
            yield bell
        finally:
            self._bells[run].discard(bell)
            if not self._bells[run]:
                del self._bells[run]

    def check(self, run: RunId | None = None) -> None:
        """Whether anything may still be asked of us, and of this run."""
        if self._refusing is not None:
            raise self._refusing
        if run is not None and run in self.runs.damaged:
            raise self.runs.damaged[run]

    async def close(self, grace_s: float) -> None:
        """Take nothing more in, let what runs finish within the grace time, and leave the rest to the next owner."""
        if self._closed:
            return
        self._closed = True
        failed = self._refusing is not None
        self._refusing = self._refusing or Refused("store_closed", "the store is being closed", "open it again")
        self.runs.stopping = True
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        try:
            if self._workers is not None:
                await self._workers.close(0 if failed else grace_s)
            while not failed and any(actor.queued or actor.writing for actor in self.runs.actors.values()):
                await self._breath()
        finally:
            await self._writer.close()
            self._give_up(self._refusing)
            self._lock.release()

    # what the others tell

    def _committed(self, stored: Turn) -> None:
        head = stored.head
        if head.ended:
            row = stored.row
            self.triggers.committed(row)
            for answer in self._endings.pop(row.run, ()):
                if not answer.done():
                    answer.set_result(row)
        for bell in self._bells.get(head.run, ()):
            bell.set()

    def _stuck(self, run: RunId, refused: Refused) -> None:
        for answer in self._endings.pop(run, ()):
            if not answer.done():
                answer.set_exception(refused)
        for bell in self._bells.get(run, ()):
            bell.set()

    def _wants_alarm(self, run: RunId, at: int) -> None:
        self._alarms.note(run, at)

    def _noticed(self) -> None:
        """Another process wrote: probably a message."""
        self._mail.set()

    async def _breath(self) -> None:
        """Let others have their turn, until what was asked so far is durable."""
        await self.runs.caught_up()
        await self._writer.do(_nothing)

    def _fail(self, problem: Exception) -> None:
        """A write failed. Nothing that was not acknowledged can be counted on; everything that was is in the store."""
        self._refusing = refusal(problem)
        for keeper in self._keepers:
            keeper.cancel()
        self._give_up(self._refusing)

    def _give_up(self, refused: Refused) -> None:
        self.runs.fail(refused)
        self._writer.fail(refused)
        for answers in self._endings.values():
            for answer in answers:
                if not answer.done():
                    answer.set_exception(refused)
        self._endings.clear()
        for bells in self._bells.values():
            for bell in bells:
                bell.set()


def _input_of(waiting: Sequence[Message]) -> Json:
    return next((message.input for message in waiting if isinstance(message, StartRun)), None)


def _taken(run: RunId) -> Refused:
    return Refused("run_exists", f"there is a run {run} already, and it is another one", "choose another name")


def unknown(run: RunId) -> Refused:
    return Refused("unknown_run", f"there is no run {run} in this store", "list the runs there are")


def _nothing(_: Connection) -> None:
    pass
