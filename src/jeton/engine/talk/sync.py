"""Conversations without `await`, for scripts: the same methods, run on an event loop in a thread of its own.

Generated from the async engine by `make sync`; do not edit.
"""

from __future__ import annotations  # as the modules have it that these methods are from

from collections.abc import Iterable, Iterator

from jeton.engine.loop_thread import LoopThread
from jeton.engine.reply import Reply
from jeton.engine.talk.conversation import ChatTurn, Conversation
from jeton.engine.talk.looking_back import MoveExplanation, ReplayedTurn, ToolsMode
from jeton.engine.views.conversation import ConversationView, TurnView
from jeton.engine.views.gates import GateView
from jeton.model.chat import Attachment
from jeton.model.json import Json, JsonObject
from jeton.model.state.talk import WhenBusy


class SyncChatTurn:
    """One turn of a chat message. Each method does what the method of `ChatTurn` with the same name does."""

    def __init__(self, handle: ChatTurn, loop: LoopThread) -> None:
        self._handle = handle
        self._loop = loop
        self.id = handle.id

    def __repr__(self) -> str:
        return f"SyncChatTurn({self.id!r})"

    def result(self, timeout: float | None = None) -> TurnView:
        """Wait until the turn has ended, whatever its status. Raises TimeoutError if it has not ended in time."""
        return self._loop.wait(self._handle.result(timeout))


class SyncConversation:
    """One conversation with an agent. Each method does what the method of `Conversation` with the same name does."""

    def __init__(self, handle: Conversation, loop: LoopThread) -> None:
        self._handle = handle
        self._loop = loop
        self.id = handle.id

    def __repr__(self) -> str:
        return f"SyncConversation({self.id!r})"

    def send(
        self,
        text: str,
        *,
        attachments: Iterable[Attachment] = (),
        key: str | None = None,
        when_busy: WhenBusy = "queue",
        to: str | None = None,
        user: str | None = None,
    ) -> SyncChatTurn:
        """Say something. The turn goes on by itself; wait for it with `result`.

        The same `key` twice is one chat message. `when_busy` says what happens while a turn moves: `queue` (a turn of
        its own, next), `steer` (more for that turn) or `interrupt` (stop that turn, then a turn of its own)."""
        return SyncChatTurn(
            self._loop.wait(
                self._handle.send(text, attachments=attachments, key=key, when_busy=when_busy, to=to, user=user)
            ),
            self._loop,
        )

    def attach(self, content: bytes, media_type: str, name: str | None = None) -> Attachment:
        """Store content, to be attached to a chat message."""
        return self._loop.wait(self._handle.attach(content, media_type, name))

    def view(self) -> ConversationView:
        """The conversation with all its turns."""
        return self._loop.wait(self._handle.view())

    def turns(self) -> tuple[TurnView, ...]:
        """All turns, in order."""
        return self._loop.wait(self._handle.turns())

    def stream(self, after: int = -1) -> Iterator[JsonObject]:
        """Events behind a sequence number, and pieces of answers (`message.delta`) while they are made."""
        return self._loop.each(self._handle.stream(after))

    def gates(self) -> tuple[GateView, ...]:
        """Open approvals, and open gates of the runs that its tools called."""
        return self._loop.wait(self._handle.gates())

    def answer(self, value: Json, *, gate: str | None = None, by: str | None = None) -> Reply:
        """Answer an approval: `{"decision": "approve"}`, `edit` with an `input`, or `refuse` with a `reason`."""
        return self._loop.wait(self._handle.answer(value, gate=gate, by=by))

    def cancel(self, turn: int | None = None, reason: str = "") -> None:
        """Stop a turn, or all that have begun. The conversation goes on."""
        self._loop.wait(self._handle.cancel(turn, reason))

    def fork(
        self,
        turn: int,
        *,
        message: str | None = None,
        persona: str | None = None,
        profile: str | None = None,
        tools: ToolsMode = "recorded",
    ) -> SyncConversation:
        """Begin a conversation that shares this one's history before a turn, and does that turn again.

        `message` is said in place of the turn's own, to another `persona` or model `profile`. With `recorded` tools
        nothing runs: a call that the turn made before has the result of then, any other an error. `live` runs them."""
        return SyncConversation(
            self._loop.wait(self._handle.fork(turn, message=message, persona=persona, profile=profile, tools=tools)),
            self._loop,
        )

    def replay(
        self, *, persona: str | None = None, profile: str | None = None, tools: ToolsMode = "recorded"
    ) -> tuple[ReplayedTurn, ...]:
        """Do every ended turn again, each in a fork of its own, and say what differs: text, calls, tokens, status."""
        return self._loop.wait(self._handle.replay(persona=persona, profile=profile, tools=tools))

    def script(self) -> list[JsonObject]:
        """The answers of its models as the `script` of a scripted model profile, for tests."""
        return self._loop.wait(self._handle.script())

    def explain(self, turn: int, move: int = 0) -> MoveExplanation:
        """What a model was given for a move, and what was left out."""
        return self._loop.wait(self._handle.explain(turn, move))

    def close(self, reason: str = "") -> None:
        """Stop all turns, also those that are queued, and end the conversation. It can be read afterwards."""
        self._loop.wait(self._handle.close(reason))
