"""A handle on one conversation, and on one of its turns."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from typing import TYPE_CHECKING

from jeton.engine.misuse import awaited
from jeton.engine.reply import Reply
from jeton.engine.talk.conversations import Conversations, Sent
from jeton.engine.talk.looking_back import LookingBack, MoveExplanation, ReplayedTurn, ToolsMode
from jeton.engine.views.conversation import ConversationView, TurnView
from jeton.engine.views.gates import GateView
from jeton.model.chat import Attachment
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.state.talk import WhenBusy

if TYPE_CHECKING:
    from jeton.engine.engine import Engine


@awaited
class ChatTurn:
    """The turn of a chat message that was sent."""

    def __init__(self, conversations: Conversations, conversation: RunId, sent: Sent) -> None:
        self._conversations = conversations
        self._conversation = conversation
        self._sent = sent
        self.id = sent.turn

    async def result(self, timeout: float | None = None) -> TurnView:
        """Wait until the turn has ended, whatever its status. Raises TimeoutError if it has not ended in time."""
        number = 0 if self.id is None else self.id
        return await self._conversations.turn(self._conversation, number, self._sent.entry - 1, timeout)

    def __repr__(self) -> str:
        return f"ChatTurn({self.id})"


@awaited
class Conversation:
    """One conversation with an agent."""

    def __init__(self, engine: Engine, looking_back: LookingBack, conversation: RunId) -> None:
        self._engine = engine
        self._looking_back = looking_back
        self._conversations = looking_back.conversations
        self.id = conversation

    async def send(
        self,
        text: str,
        *,
        attachments: Iterable[Attachment] = (),
        key: str | None = None,
        when_busy: WhenBusy = "queue",
        to: str | None = None,
        user: str | None = None,
    ) -> ChatTurn:
        """Say something. The turn goes on by itself; wait for it with `result`.

        The same `key` twice is one chat message. `when_busy` says what happens while a turn moves: `queue` (a turn of
        its own, next), `steer` (more for that turn) or `interrupt` (stop that turn, then a turn of its own)."""
        sent = await self._conversations.send(
            self.id, text, attachments=attachments, key=key, when_busy=when_busy, to=to, user=user
        )
        return ChatTurn(self._conversations, self.id, sent)

    async def attach(self, content: bytes, media_type: str, name: str | None = None) -> Attachment:
        """Store content, to be attached to a chat message."""
        return await self._conversations.attach(self.id, content, media_type, name)

    async def view(self) -> ConversationView:
        """The conversation with all its turns."""
        return await self._conversations.view(self.id)

    async def turns(self) -> tuple[TurnView, ...]:
        """All turns, in order."""
        return tuple((await self._conversations.view(self.id)).turns)

    def stream(self, after: int = -1) -> AsyncGenerator[JsonObject, None]:
        """Events behind a sequence number, and pieces of answers (`message.delta`) while they are made."""
        return self._conversations.stream(self.id, after)

    async def gates(self) -> tuple[GateView, ...]:
        """Open approvals, and open gates of the runs that its tools called."""
        return await self._engine.gates(self.id)

    async def answer(self, value: Json, *, gate: str | None = None, by: str | None = None) -> Reply:
        """Answer an approval: `{"decision": "approve"}`, `edit` with an `input`, or `refuse` with a `reason`."""
        return await self._engine.answer(self.id, value, gate=gate, by=by)

    async def cancel(self, turn: int | None = None, reason: str = "") -> None:
        """Stop a turn, or all that have begun. The conversation goes on."""
        await self._conversations.stop(self.id, turn, reason)

    async def fork(
        self,
        turn: int,
        *,
        message: str | None = None,
        persona: str | None = None,
        profile: str | None = None,
        tools: ToolsMode = "recorded",
    ) -> Conversation:
        """Begin a conversation that shares this one's history before a turn, and does that turn again.

        `message` is said in place of the turn's own, to another `persona` or model `profile`. With `recorded` tools
        nothing runs: a call that the turn made before has the result of then, any other an error. `live` runs them."""
        forked = await self._looking_back.fork(
            self.id, turn, message=message, persona=persona, profile=profile, tools=tools
        )
        return Conversation(self._engine, self._looking_back, forked)

    async def replay(
        self, *, persona: str | None = None, profile: str | None = None, tools: ToolsMode = "recorded"
    ) -> tuple[ReplayedTurn, ...]:
        """Do every ended turn again, each in a fork of its own, and say what differs: text, calls, tokens, status."""
        return await self._looking_back.replay(self.id, persona=persona, profile=profile, tools=tools)

    async def script(self) -> list[JsonObject]:
        """The answers of its models as the `script` of a scripted model profile, for tests."""
        return await self._looking_back.script(self.id)

    async def explain(self, turn: int, move: int = 0) -> MoveExplanation:
        """What a model was given for a move, and what was left out."""
        return await self._looking_back.explain(self.id, turn, move)

    async def close(self, reason: str = "") -> None:
        """Stop all turns, also those that are queued, and end the conversation. It can be read afterwards."""
        await self._engine.cancel(self.id, reason)

    def __repr__(self) -> str:
        return f"Conversation({self.id!r})"
