"""Handles on one run of a server, on one conversation, and on one of its turns."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from jeton.api.client.connection import part
from jeton.api.client.streaming import Wanted, frames
from jeton.api.views import ArtifactView, Begun, TurnBegun
from jeton.engine.control import CancelAnswer
from jeton.engine.misuse import awaited
from jeton.engine.reply import Reply
from jeton.engine.talk.looking_back import MoveExplanation, ReplayedTurn, ToolsMode, differences_between
from jeton.engine.views.conversation import ConversationView, TurnView
from jeton.engine.views.gates import GateView
from jeton.engine.views.record import RunRecord
from jeton.model.chat import Attachment
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.state.talk import WhenBusy

if TYPE_CHECKING:
    from jeton.api.client.remote import RemoteEngine


@awaited
class RemoteRun:
    """One run of a server."""

    def __init__(self, engine: RemoteEngine, run: str, *, trace: bool = False, new: bool = True) -> None:
        """`new`: whether it was started by this very call, and not before with the same key."""
        self._engine = engine
        self._trace = trace
        self.id = RunId(run)
        self.new = new

    async def result(self, timeout: float | None = None) -> RunRecord:
        """Wait for the run's end, whatever its status. Raises TimeoutError if it has not ended in time."""
        return await self._engine.ended(self.id, timeout)

    async def record(self) -> RunRecord:
        """The run's current record."""
        return await self._engine.get(self.id)

    def events(self, after: int = -1, *, follow: bool = True) -> AsyncGenerator[JsonObject, None]:
        """The run's events behind a sequence number, until it has ended."""
        return self._engine.events(self.id, after, follow=follow, trace=self._trace)

    async def answer(
        self,
        value: Json,
        *,
        gate: str | None = None,
        node: str | None = None,
        path: str | None = None,
        by: str | None = None,
    ) -> Reply:
        """Answer a gate of the run."""
        return await self._engine.answer(self.id, value, gate=gate, node=node, path=path, by=by)

    async def signal(self, name: str, value: Json = None, *, key: str | None = None) -> Reply:
        """Send the run a value under a name."""
        return await self._engine.signal(self.id, name, value, key=key)

    async def cancel(self, reason: str = "") -> CancelAnswer:
        """Stop the run."""
        return await self._engine.cancel(self.id, reason)

    def __repr__(self) -> str:
        return f"RemoteRun({self.id!r})"


@awaited
class RemoteTurn:
    """The turn of a chat message that was sent to a server."""

    def __init__(self, conversation: RemoteConversation, turn: int | None) -> None:
        self._conversation = conversation
        self.id = turn

    async def result(self, timeout: float | None = None) -> TurnView:
        """Wait until the turn has ended, whatever its status. Raises TimeoutError if it has not ended in time."""
        async with asyncio.timeout(timeout), aclosing(self._conversation.changes()) as changes:
            async for view in changes:
                found = next((turn for turn in view.turns if turn.id == self.id), None)
                if found is not None and found.phase == "ended":
                    return found
        problem = f"the conversation {self._conversation.id} has ended, and turn {self.id} has not"
        raise Refused("run_ended", problem, "nothing can be changed about it any more")

    def __repr__(self) -> str:
        return f"RemoteTurn({self.id})"


@awaited
class RemoteConversation:
    """One conversation with an agent of a server."""

    def __init__(self, engine: RemoteEngine, conversation: str) -> None:
        self._engine = engine
        self._connection = engine.connection
        self.id = RunId(conversation)
        self._path = f"/conversations/{part(conversation)}"

    async def send(
        self,
        text: str,
        *,
        attachments: Iterable[Attachment] = (),
        key: str | None = None,
        when_busy: WhenBusy = "queue",
        to: str | None = None,
        user: str | None = None,
    ) -> RemoteTurn:
        """Say something. The turn goes on by itself; wait for it with `result`.

        The same `key` twice is one chat message. `when_busy` says what happens while a turn moves: `queue` (a turn of
        its own, next), `steer` (more for that turn) or `interrupt` (stop that turn, then a turn of its own)."""
        attached = [{"id": each.id, "media_type": each.media_type, "name": each.name} for each in attachments]
        body = {"text": text, "key": key, "attachments": attached, "when_busy": when_busy, "to": to, "user": user}
        return RemoteTurn(self, (await self._connection.post(f"{self._path}/messages", TurnBegun, body)).turn)

    async def attach(self, content: bytes, media_type: str, name: str | None = None) -> Attachment:
        """Store content, to be attached to a chat message."""
        kept = await self._connection.put("/artifacts", ArtifactView, content, media_type)
        return Attachment(kept.id, kept.media_type, kept.size, name)

    async def view(self) -> ConversationView:
        """The conversation with all its turns."""
        return await self._engine.conversation(self.id)

    async def turns(self) -> tuple[TurnView, ...]:
        """All turns, in order."""
        return tuple((await self.view()).turns)

    def stream(self, after: int = -1) -> AsyncGenerator[JsonObject, None]:
        """Events behind a sequence number, and pieces of answers (`message.delta`) while they are made."""
        return self._engine.stream(after, conversation=self.id)

    async def changes(self) -> AsyncGenerator[ConversationView, None]:
        """The conversation as it is now, and again whenever a turn, a gate or a run below it has changed."""
        wanted = Wanted(conversation=self.id)
        async with aclosing(frames(self._connection, wanted, "head")) as found:
            async for frame in found:
                kind = str(frame.event.get("type", ""))
                if frame.kind in ("hello", "end") or kind.startswith(("turn.", "gate.", "run.")):
                    yield await self.view()

    async def gates(self) -> tuple[GateView, ...]:
        """Open approvals, and open gates of the runs that its tools called."""
        return await self._engine.gates(self.id)

    async def answer(self, value: Json, *, gate: str | None = None, by: str | None = None) -> Reply:
        """Answer an approval: `{"decision": "approve"}`, `edit` with an `input`, or `refuse` with a `reason`."""
        return await self._engine.answer(self.id, value, gate=gate, by=by)

    async def cancel(self, turn: int | None = None, reason: str = "") -> None:
        """Stop a turn, or all that have begun. The conversation goes on."""
        await self._connection.post(f"{self._path}/cancel", ConversationView, {"turn": turn, "reason": reason})

    async def fork(
        self,
        turn: int,
        *,
        message: str | None = None,
        persona: str | None = None,
        profile: str | None = None,
        tools: ToolsMode = "recorded",
    ) -> RemoteConversation:
        """Begin a conversation that shares this one's history before a turn, and does that turn again.

        `message` is said in place of the turn's own, to another `persona` or model `profile`. With `recorded` tools
        nothing runs: a call that the turn made before has the result of then, any other an error. `live` runs them."""
        body = {"turn": turn, "message": message, "persona": persona, "profile": profile, "tools": tools}
        begun = await self._connection.post(f"{self._path}/fork", Begun, body)
        return RemoteConversation(self._engine, begun.conversation_id)

    async def replay(
        self, *, persona: str | None = None, profile: str | None = None, tools: ToolsMode = "recorded"
    ) -> tuple[ReplayedTurn, ...]:
        """Do every ended turn again, each in a fork of its own, and say what differs: text, calls, tokens, status."""
        replayed: list[ReplayedTurn] = []
        for before in [turn for turn in await self.turns() if turn.phase == "ended" and turn.began_at is not None]:
            forked = await self.fork(before.id, persona=persona, profile=profile, tools=tools)
            differences = differences_between(before, await RemoteTurn(forked, before.id).result())
            replayed.append(ReplayedTurn(before.id, forked.id, not differences, differences))
        return tuple(replayed)

    async def script(self) -> list[JsonObject]:
        """The answers of its models as the `script` of a scripted model profile, for tests."""
        content = await self._connection.download(f"/runs/{part(self.id)}/export", **{"as": "script"})
        found = json.loads(content)["model_profiles"]["recorded"]["script"]
        return msgspec.convert(found, list[JsonObject])

    async def explain(self, turn: int, move: int = 0) -> MoveExplanation:
        """What a model was given for a move, and what was left out."""
        return await self._connection.get(f"{self._path}/explain", MoveExplanation, turn=turn, move=move)

    async def close(self, reason: str = "") -> None:
        """Stop all turns, also those that are queued, and end the conversation. It can be read afterwards."""
        await self._engine.cancel(self.id, reason)

    def __repr__(self) -> str:
        return f"RemoteConversation({self.id!r})"
