"""What a store still owes its runs: messages of other processes, and tasks that nobody works on.

This is no one-time act on opening. It looks at what is stored and at what is in work, and hands in what is missing, now
and again; looking twice changes nothing.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from jeton.hosts.sqlite.file.connect import BUSY_MS, Connection, begin, connect
from jeton.hosts.sqlite.loop.actor import Actor
from jeton.hosts.sqlite.loop.runs import Runs
from jeton.hosts.sqlite.store import Store
from jeton.model.failure import Refused, RunError
from jeton.model.ids import RunId
from jeton.model.message import AlarmRang, ChildEnded, ContinueRun, Message, StartRun, TaskLost
from jeton.model.state.phase import Dispatched, Executing, Pending

EVERY_S = 10.0
AT_ONCE = 100

_log = logging.getLogger("jeton.store")
_message = msgspec.json.Decoder(Message)
Value = TypeVar("Value")


class Recovery:
    """One per owner."""

    def __init__(
        self,
        store: Store,
        runs: Runs,
        clock: Callable[[], int],
        breath: Callable[[], Awaitable[None]],
    ) -> None:
        self._store = store
        self._runs = runs
        self._clock = clock
        self._breath = breath
        self._read = 0  # inbox rows up to this are in some run's hands
        self._handed: set[int] = set()  # and these beyond it

    async def keep(self) -> None:
        """Look after everything, for ever."""
        while True:
            try:
                await self.take_inbox()
                await self.ask_after_tasks()
            except Exception:
                _log.exception("what is stored is looked after again in a moment")
            await asyncio.sleep(EVERY_S)

    async def keep_reading(self, mail: asyncio.Event) -> None:
        """Take the inbox whenever somebody may have left something."""
        while True:
            await mail.wait()
            mail.clear()
            try:
                await self.take_inbox()
            except Exception:
                _log.exception("messages are looked at again in a moment")

    async def take_inbox(self) -> None:
        """Hand in what other processes left; their rows go in the commits that answer them."""
        known = max(self._handed, default=0)  # those up to here are in the table, if nobody has answered them
        while rows := self._store.inbox(self._read, AT_ONCE):
            for number, run, body in rows:
                self._read = max(self._read, number)
                if number in self._handed:
                    continue
                try:
                    self._give(number, run, _message.decode(body))
                except msgspec.DecodeError as problem:
                    _log.error("message %s to run %s cannot be read: %s", number, run, problem)
            await self._breath()
        self._read = max(self._read, known)
        self._handed = {number for number in self._handed if number > self._read}

    def hand_in(self, number: int, run: RunId, message: Message) -> None:
        """A message from another run, as soon as it is stored; unless it was found in the table before."""
        if number > self._read and number not in self._handed:
            self._handed.add(number)
            self._give(number, run, message)

    def _give(self, number: int, run: RunId, message: Message) -> None:
        try:
            actor = self._runs.find(run)
            if actor is None and isinstance(message, StartRun):
                begin = self._runs.begin_fired if message.parent is None else self._runs.begin_child
                actor = begin(run, message)
        except Refused as refused:
            _log.error("message %s to run %s cannot be handed in: %s", number, run, refused)
            if isinstance(message, StartRun) and message.parent is not None and run not in self._runs.damaged:
                error = RunError(refused.code, refused.problem)
                ended = ChildEnded(self._clock(), message.parent.token, run, "failed", error=error)
                self._give(number, message.parent.run, ended)
            return
        if actor is None:
            _log.error("message %s is to run %s, which nobody started", number, run)
            return
        actor.answering.append(number)
        self._runs.tell(actor, message)

    async def ask_after_tasks(self) -> None:
        """A run that is busy, and not in memory, has tasks that no worker has: they are lost, and given out again.

        The core counts such deliveries, so a task that kills its worker does not do so for ever."""
        after = RunId("")
        while runs := self._store.busy(after, AT_ONCE):
            for run in runs:
                if run not in self._runs.actors:
                    self._ask_after(run)
            after = runs[-1]
            await self._breath()

    def _ask_after(self, run: RunId) -> None:
        try:
            actor = self._runs.find(run)
        except Refused:
            return
        if actor is None or actor.live.state.head.ended:
            return
        for message in self._owed(actor):
            self._runs.tell(actor, message)

    def _owed(self, actor: Actor) -> list[Message]:
        now, owed = self._clock(), list[Message]()
        lacking: str | None = None
        pending = False
        for token in actor.live.state.tokens.values():
            match token.phase:
                case Dispatched() | Executing():
                    missing = self._runs.missing(actor, token.node)
                    lacking = lacking or missing
                    if missing is None:
                        owed.append(TaskLost(now, token.id, token.attempt))
                case Pending():
                    pending = True
                case _:
                    pass
        if lacking is None:
            self._runs.needs_app.pop(actor.run, None)
        else:
            self._runs.needs_app[actor.run] = lacking
        if pending:
            owed.append(ContinueRun(now))
        if actor.wake is not None and actor.wake <= now:
            owed.append(AlarmRang(now))
        return owed


def leave_message(path: Path, run: RunId, message: Message) -> None:
    """For a process that does not own the store: the owner finds it there."""
    row = (run, msgspec.json.encode(message))
    write_beside(path, lambda db: db.execute("insert into inbox(run, body) values(?, ?)", row))


def write_beside(path: Path, act: Callable[[Connection], Value]) -> Value:
    """For a process that does not own the store: one short transaction. However busy the owner is, its turn comes."""
    db = connect(path)
    try:
        db.setlk_timeout(BUSY_MS, 0)  # queue for the lock, so that a busy owner cannot slip in before us each time
        begin(db, "a message")
        done = act(db)
        db.execute("commit")
        return done
    finally:
        db.close()
