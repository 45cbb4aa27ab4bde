"""Conversations with agents: begin one, say something, stop a turn, and read what was said."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Iterable
from typing import Literal, TypeAlias

import msgspec

from jeton.actor.host import Host
from jeton.actor.replies import ANSWER_WITHIN_S, LOOK_AGAIN_S, ended
from jeton.actor.rows import RunRow
from jeton.actor.starts import NewRun
from jeton.engine.arguments import MOST_ROWS, check_maybe_texts, check_texts, check_whole
from jeton.engine.lookup import Lookup
from jeton.engine.views.conversation import (
    ConversationRow,
    ConversationTable,
    ConversationView,
    TurnView,
    conversation_status,
    conversation_view,
)
from jeton.engine.views.events import events_in
from jeton.executor.deltas import Deltas
from jeton.model.chat import Attachment, Delta, SeenText
from jeton.model.decision import ReplyTo
from jeton.model.definition.agent import agent_bundle, agent_of
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from jeton.model.message import ChatSent, StartRun, StopTurn
from jeton.model.reference import parse_reference
from jeton.model.state.run import TERMINAL, RunStatus
from jeton.model.state.talk import Caller, WhenBusy
from jeton.model.times import moment

MAX_TEXT_BYTES = 1 << 20

SendOutcome: TypeAlias = Literal["taken", "known", "sent"]
"""It has a turn; a chat message with its key came before; or the owner has not taken it yet."""


class Sent(msgspec.Struct, frozen=True):
    """What became of a chat message, the turn it belongs to, and the journal entry it was taken in, if known."""

    outcome: SendOutcome
    turn: int | None = None
    entry: int = -1


def _id_of(agent: str, key: str) -> str:
    """The id of the conversation that an agent has under a key, whichever process begins it."""
    return "k" + hashlib.sha256(f"{agent}\0{key}".encode()).hexdigest()[:19]


class Conversations:
    """Begins conversations, sends chat messages, and reads them."""

    def __init__(self, lookup: Lookup, deltas: Deltas | None = None) -> None:
        self._lookup = lookup
        self._host: Host = lookup.host
        self.deltas = deltas

    async def begin(self, agent: str, key: str | None, user: str | None) -> RunId:
        """Begin a conversation with an agent. One conversation per agent and key."""
        check_texts(agent=agent)
        check_maybe_texts(key=key, user=user)
        name, version = parse_reference(agent)
        found = await self._host.reads.bundle(agent_bundle(name), version)
        if found is None:
            raise Refused("unknown_agent", f"no agent '{agent}' is deployed in this store", "deploy it first")
        begun = RunId(_id_of(name, key)) if key is not None else None
        new = NewRun(agent_bundle(name), found[1], {"user": user}, run=begun)
        try:
            return (await self._host.start(new)).run
        except Refused as refused:
            if refused.code != "not_owner":
                raise
        return await self._begin_beside(new)

    async def _begin_beside(self, new: NewRun) -> RunId:
        """Leave the start of a conversation for the owner, and wait until it has taken it."""
        run = new.run or RunId(self._host.new_id())
        if await self._host.reads.row(run) is None:
            start = StartRun(self._host.now(), new.input, f"{new.workflow}@{new.version}")
            await self._host.deliver(run, start)
        async with asyncio.timeout(ANSWER_WITHIN_S):
            while await self._host.reads.row(run) is None:
                await asyncio.sleep(LOOK_AGAIN_S)
        return run

    async def row(self, conversation: str) -> RunRow:
        """The row of a conversation. Raises Refused for a run."""
        row = await self._lookup.row(conversation)
        if agent_of(row.workflow) is None:
            raise Refused("not_a_conversation", f"'{conversation}' is a run", "list conversations")
        return row

    async def send(
        self,
        conversation: str,
        text: str,
        *,
        attachments: Iterable[Attachment] = (),
        key: str | None = None,
        when_busy: WhenBusy = "queue",
        to: str | None = None,
        user: str | None = None,
    ) -> Sent:
        """Say something. Durable when this returns; the turn goes on by itself."""
        check_texts(text=text)
        check_maybe_texts(key=key, to=to, user=user)
        if when_busy not in ("queue", "steer", "interrupt"):
            raise Refused("bad_argument", f"when_busy is '{when_busy}'", "use queue, steer or interrupt")
        if len(text.encode()) > MAX_TEXT_BYTES:
            raise Refused("bad_value", f"the text is longer than {MAX_TEXT_BYTES} bytes", "attach it as a file")
        row = await self.row(conversation)
        message = ChatSent(
            self._host.now(),
            self._host.new_id(),
            text,
            Caller(user=user),
            tuple(attachments),
            key,
            when_busy,
            to,
            seen=self._seen(row.run) if when_busy == "interrupt" else (),
        )
        return await self._tell(row, message)

    async def stop(self, conversation: str, turn: int | None, reason: str) -> Sent:
        """Stop a turn, or all that have begun."""
        check_texts(reason=reason)
        if turn is not None:
            check_whole("turn", turn, 1, MOST_ROWS)
        row = await self.row(conversation)
        now, name = self._host.now(), self._host.new_id()
        return await self._tell(row, StopTurn(now, name, turn, reason=reason, seen=self._seen(row.run)))

    def _seen(self, conversation: RunId) -> tuple[SeenText, ...]:
        """The texts of answers that are being streamed. Only the process that makes the model calls has them."""
        return () if self.deltas is None else self.deltas.seen(conversation)

    async def _tell(self, row: RunRow, message: ChatSent | StopTurn) -> Sent:
        """Deliver a message and find the reply in the journal."""
        if row.status in TERMINAL:
            raise ended(row.run, row.status)
        await self._host.deliver(row.run, message)
        last, deadline = row.entries - 1, asyncio.get_running_loop().time() + ANSWER_WITHIN_S
        while True:
            for entry in await self._host.reads.entries(row.run, last):
                last = entry.number
                for decision in entry.decisions:
                    if isinstance(decision, ReplyTo) and decision.id == message.id:
                        if not decision.accepted:
                            raise Refused(decision.code or "bad_argument", decision.why, decision.remedy)
                        known = decision.why == "known"
                        return Sent("known" if known else "taken", decision.turn, -1 if known else entry.number)
            if asyncio.get_running_loop().time() >= deadline:
                return Sent("sent")
            await asyncio.sleep(LOOK_AGAIN_S)

    async def attach(self, conversation: RunId, content: bytes, media_type: str, name: str | None) -> Attachment:
        """Store content as an artifact of a conversation."""
        check_texts(media_type=media_type)
        check_maybe_texts(name=name)
        kept = await self._host.artifacts.write(conversation, content, media_type)
        return Attachment(kept.id, kept.media_type, kept.size, name)

    # reading

    async def view(self, conversation: str) -> ConversationView:
        """The whole conversation."""
        row = await self.row(conversation)
        live = await self._host.reads.live(row.run)
        entries = await self._host.reads.entries(row.run)
        row = await self.row(conversation)
        return conversation_view(row.run, row.workflow, row.status, entries, None if live is None else live.state)

    async def list(
        self, agent: str | None, after: str | None, limit: int, active: bool = False
    ) -> tuple[ConversationRow, ...]:
        """Conversations, newest first; or only those in which a turn moves."""
        check_maybe_texts(agent=agent, after=after)
        check_whole("limit", limit, 1, MOST_ROWS)
        workflow = None if agent is None else agent_bundle(agent)
        last = None if after is None else RunId(after)
        status: RunStatus | None = "running" if active else None
        rows = await self._host.reads.rows(
            workflow=workflow, status=status, after=last, limit=limit, conversations=True
        )
        return tuple([await self._row(row) for row in rows])

    async def _row(self, row: RunRow) -> ConversationRow:
        live = await self._host.reads.live(row.run)
        turns = 0 if live is None or not live.state.talk.heads else live.state.talk.head.next_turn - 1
        agent = agent_of(row.workflow) or row.workflow
        return ConversationRow(row.run, agent, conversation_status(row.status), turns, moment(row.submitted_at))

    async def turn(self, conversation: str, number: int, after: int, timeout: float | None) -> TurnView:
        """Wait until a turn has ended. `after`: the entry before the one that added it.

        Raises TimeoutError if it has not ended in time; the turn goes on."""
        row, table = await self.row(conversation), ConversationTable()
        async with asyncio.timeout(timeout):
            async for entry in self._host.reads.watch(row.run, after):
                table.take(entry)
                found = table.turns.get(number)
                if found is not None and found.phase == "ended":
                    return found
        raise ended(row.run, (await self.row(conversation)).status)

    async def stream(self, conversation: str, after: int) -> AsyncGenerator[JsonObject, None]:
        """Events behind a sequence number, and pieces of answers while they are made, until the conversation ends.

        Pieces have the type `message.delta` and no `seq`: `at` is the place in the text, and a new `delivery` begins
        again at 0. Only the process that makes the model calls has them."""
        row, queue = await self.row(conversation), asyncio.Queue[JsonObject | None]()

        def on_delta(delta: Delta) -> None:
            shown: JsonObject = msgspec.to_builtins(delta)
            queue.put_nowait({"type": "message.delta", **shown})

        async def watch() -> None:
            async for entry in self._host.reads.watch(row.run):
                for event in events_in(row.run, (entry,), after):
                    queue.put_nowait(event)
            queue.put_nowait(None)

        stop = None if self.deltas is None else self.deltas.listen(row.run, on_delta)
        watching = asyncio.create_task(watch())
        try:
            while (item := await queue.get()) is not None:
                yield item
        finally:
            if stop is not None:
                stop()
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
