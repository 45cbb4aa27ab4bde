"""Delivery of stored messages, and recovery of tasks that no worker has.

Not only on opening: it compares what is stored with what is in memory again and again, and delivers what is missing.
Doing so twice changes nothing.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
from msgspec.structs import replace

from jeton.actor.recovery import plan_recovery
from jeton.actor.starts import impossible_start, undeliverable
from jeton.hosts.sql.loop.actor import Actor
from jeton.hosts.sql.loop.periodic import repeat
from jeton.hosts.sql.loop.runs import Runs
from jeton.hosts.sql.store import Store
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import CancelRun, Message, StartRun, TaskLost, UnpauseRun

EVERY_S = 10.0
ROWS_PER_STEP = 100

_log = logging.getLogger("jeton.store")
_message = msgspec.json.Decoder(Message)


class Recovery:
    """Reads the inbox and the busy runs of a store. `flush` waits until what was delivered is durable."""

    def __init__(
        self,
        store: Store,
        runs: Runs,
        clock: Callable[[], int],
        wall: Callable[[], int],
        flush: Callable[[], Awaitable[None]],
        is_mine: Callable[[RunId], bool],
    ) -> None:
        self._store = store
        self._is_mine = is_mine
        self._runs = runs
        self._clock = clock
        self._wall = wall
        self._flush = flush
        self._read_to = 0  # inbox rows up to this number are delivered
        self._delivered: set[int] = set()  # and these beyond it
        self._held: dict[RunId, list[tuple[int, Message]]] = {}  # rows for runs that are set aside

    async def run(self) -> None:
        """Deliver stored messages and recover tasks from time to time, until cancelled."""
        await repeat(self._step, "recovery", EVERY_S)

    async def _step(self) -> None:
        await self.deliver_inbox()
        await self.recover_tasks()
        await asyncio.sleep(EVERY_S)

    async def run_inbox(self, changed: asyncio.Event) -> None:
        """Deliver stored messages whenever the inbox may have changed, until cancelled."""

        async def step() -> None:
            await changed.wait()
            changed.clear()
            await self.deliver_inbox()

        await repeat(step, "reading the inbox", 0)

    async def deliver_inbox(self) -> None:
        """Deliver the messages in the inbox. Their rows are deleted in the commits that handle them.

        They get the time of their delivery: another process, or an earlier one, may have had another clock, and what a
        run waits for begins with the message that leads to it."""
        known = max(self._delivered, default=0)  # rows up to here are in the table, unless they were handled
        read: set[int] = set()
        while rows := self._store.inbox(self._read_to, ROWS_PER_STEP):
            unpaused: list[RunId] = []
            for number, run, body in rows:
                self._read_to = max(self._read_to, number)
                read.add(number)
                if number in self._delivered:
                    continue
                if not self._store.inbox_in_order:
                    self._delivered.add(number)
                try:
                    message = replace(_message.decode(body), at=self._clock())
                except msgspec.DecodeError as problem:
                    _log.error("message %s to run %s cannot be read: %s", number, run, problem)
                    continue
                self._deliver(number, run, message)
                if type(message) is UnpauseRun:
                    unpaused.append(run)
            await self._flush()
            for run in unpaused:
                self.recover_run(run)
        if self._store.inbox_in_order:
            self._read_to = max(self._read_to, known)
            self._delivered = {number for number in self._delivered if number > self._read_to}
        else:  # a row with a smaller number may come later: all rows that are there are read again
            self._read_to, self._delivered = 0, self._delivered & read

    def deliver_stored(self, number: int, run: RunId, message: Message) -> None:
        """Deliver a message that was just stored in the inbox, unless it was read from there already."""
        if number > self._read_to and number not in self._delivered and self._is_mine(run):
            self._delivered.add(number)
            self._deliver(number, run, message)

    def _deliver(self, number: int, run: RunId, message: Message) -> None:
        again = self._runs.try_again(run, message)
        if run in self._runs.set_aside and not (isinstance(message, StartRun) and message.parent is not None):
            self._held.setdefault(run, []).append((number, message))
            return
        try:
            actor, message = self._actor_for(run, message)
        except Refused as refused:
            _log.error("message %s to run %s cannot be delivered: %s", number, run, refused)
            left = run in self._runs.damaged and run not in self._runs.set_aside
            reply = None if left else impossible_start(run, message, refused, self._clock())
            if reply is not None:
                self._deliver(number, *reply)
            return
        if actor is None:
            _log.error("message %s is for run %s, which does not exist", number, run)
            unheard = undeliverable(run, message, self._clock())
            if unheard is not None:
                self._deliver(number, *unheard)
            return
        actor.inbox_rows.append(number)
        self._runs.deliver(actor, message)
        if again:
            self.deliver_held(run)

    def _actor_for(self, run: RunId, message: Message) -> tuple[Actor | None, Message]:
        """The actor of a run, and the message that it is to handle.

        A run that is not stored yet has a start: this message, or one that was held back. A cancellation takes the
        place of the latter, because handling the start ends the process."""
        actor = self._runs.find(run)
        if actor is not None:
            return actor, message
        if isinstance(message, StartRun):
            return (self._runs.new_fired if message.parent is None else self._runs.new_child)(run, message), message
        for row, start in self._held.get(run, ()):
            if isinstance(start, StartRun):
                actor = self._runs.new_fired(run, start)
                if isinstance(message, CancelRun):
                    self._held[run].remove((row, start))
                    actor.inbox_rows.append(row)
                    message = replace(message, start=start)
                return actor, message
        return None, message

    def take_up(self, run: RunId, message: Message) -> tuple[Actor | None, Message]:
        """The run of a message, or None. A run that is set aside is tried again if the message says so.

        With it comes the message for the run to handle."""
        self._runs.try_again(run, message)
        return self._actor_for(run, message)

    def deliver_held(self, run: RunId) -> None:
        """Deliver the messages that were held back while the run was set aside, after the one that took it up."""
        for number, message in self._held.pop(run, ()):
            self._deliver(number, run, message)

    async def recover_tasks(self) -> None:
        """Start lost tasks again: a run that is busy in the store, and not in memory, has tasks that no worker has.

        The run counts such deliveries, so a task that kills its worker is not started for ever."""
        after = RunId("")
        while runs := self._store.busy(after, ROWS_PER_STEP):
            for run in runs:
                if run not in self._runs.actors:
                    self.recover_run(run)
            after = runs[-1]
            await self._flush()

    def recover_run(self, run: RunId) -> None:
        """Deliver what a run needs to go on: after its process has ended, or because it was unpaused."""
        try:
            actor = self._runs.find(run)
        except Refused:
            return
        if actor is None or actor.writing or actor.live.state.head.ended:
            return
        tasks = self._runs.tasks
        plan = plan_recovery(actor.live, self._clock(), self._wall(), partial(tasks.missing, actor))
        tasks.set_needs_app(run, plan.needs_app)
        for message in plan.messages:
            if not isinstance(message, TaskLost) or (message.token, message.attempt) not in actor.running:
                self._runs.deliver(actor, message)
