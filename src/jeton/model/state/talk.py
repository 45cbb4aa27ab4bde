"""The state of a conversation: its turns, their moves, and the results of their tool calls.

A turn that has ended stays in these tables while it is in the window that models are given. What has left the window is
in the journal. Each table is stored row by row, so that a commit writes what is new and nothing else.
"""

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import msgspec

from jeton.model.chat import (
    Attachment,
    ModelMessage,
    Sealed,
    Speaker,
    TokenUsage,
    ToolCall,
    ToolError,
    ToolResult,
    UserMessage,
)
from jeton.model.codes import FailureName
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject, Schema
from jeton.model.state.day_budget import DayBudget
from jeton.model.state.ranges import Ranges

TurnPhase: TypeAlias = Literal["queued", "assembling", "deciding", "executing", "lingering", "extracting", "ended"]
TurnStatus: TypeAlias = Literal["active", "completed", "failed", "cancelled", "exhausted"]
WhenBusy: TypeAlias = Literal["queue", "steer", "interrupt"]

MoveId: TypeAlias = tuple[int, int]
"""A turn and the number of a move in it."""
CallId: TypeAlias = tuple[int, int, int]
"""A turn, a move, and the position of a tool call in it."""
KEYS_PER_ROW = 16
ROWS_PER_MERGE = 16


class Caller(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who asked for a turn: a user, or a token of a run or conversation, which waits for the answer."""

    user: str | None = None
    run: RunId | None = None
    token: TokenId | None = None
    agent: str | None = None
    turn: int | None = None
    depth: int = 0  # of runs and agents that wait for each other
    tainted: bool = False  # it has read something untrusted
    waiting: tuple[tuple[RunId, TokenId], ...] = ()  # conversations that wait for the answer, and their calls


class TurnError(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a turn did not complete."""

    type: FailureName
    message: str


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """A chat message."""

    text: str
    at: int
    by: str | None = None  # the user or agent
    attachments: tuple[Attachment, ...] = ()
    data: Json = None  # what a run gave beside the text


class RecordedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call of another conversation, with what came of it."""

    name: str
    input: Json = None
    result: Json = None
    error: ToolError | None = None


class Given(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a turn began with: its chat message, and what context assembly put with it. Written twice at the most."""

    said: Said
    output_schema: Schema | None = None
    context: tuple[UserMessage, ...] = ()  # recalled memories and the time, which stand before the message
    messages: tuple[ModelMessage, ...] | None = None  # from an assembly workflow: instead of the window
    instructions: str | None = None  # likewise: instead of the persona's
    tools: tuple[str, ...] | None = None  # likewise: of the persona's tools only these
    profile: str | None = None  # of a fork: another model profile
    recorded: tuple[RecordedCall, ...] | None = None  # of a fork: the only results that tools have


class TalkFork(msgspec.Struct, frozen=True, omit_defaults=True):
    """The turn that a fork of a conversation begins with, in place of the turns from this number on."""

    turn: int
    agent: str
    given: Given
    caller: Caller = Caller()


class Turn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A turn: who asked, how far it is, and what is open in it."""

    number: int
    agent: str
    caller: Caller
    phase: TurnPhase = "queued"
    status: TurnStatus = "active"
    version: int = 0  # of the agent's bundle, pinned when the turn begins
    order: int = 0  # the place of its chat message in the window
    began_at: int | None = None
    moves: int = 0  # answers that were committed
    asked: tuple[UserMessage, ...] = ()  # what stands before the answer that the model is asked for now
    place: int | None = None  # of that answer in the window: what is said meanwhile stands behind it
    told: tuple[JsonObject, ...] = ()  # results of async tools among it, for scripts
    latest: str | None = None  # the chat message that it was steered with last
    last: bool = False  # the model is asked for a final answer, without tools
    nudged: bool = False  # it was asked again, because it said nothing
    steered: tuple[Said, ...] = ()  # for the next model call
    came: tuple[CallId, ...] = ()  # async results that the model was not told yet
    background: tuple[CallId, ...] = ()  # async calls under way
    held: tuple[CallId, ...] = ()  # calls of the last move that may be made, and had to wait for others
    spent: int = 0  # by its model calls, in millionths of a credit
    added: int = 0  # credits that people added to its budget
    day: DayBudget | None = None  # what its call has of the agent's budget for the day
    similar: tuple[JsonObject, ...] | None = None  # memories, for the workflow that extracts others
    issues: JsonObject = {}
    error: TurnError | None = None
    tainted: bool = False
    compacted: bool = False  # for this call, because the provider said that it was too long
    asking: bool = False  # the model is being asked
    beside: int | None = None  # the turn that looped its agent in, and waits for it

    @property
    def moving(self) -> bool:
        """Whether it is this turn's time: no other turn moves meanwhile."""
        return self.phase not in ("queued", "lingering", "ended")


class Move(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer of the model: what stood before it, its text, and its tool calls.

    `interrupted`: the turn ended before the answer was whole. What stood before it stays in the history, and the text
    that was seen, if any."""

    order: int = 0
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    before: tuple[UserMessage, ...] = ()
    profile: str = ""
    model: str = ""
    usage: TokenUsage = TokenUsage()
    sealed: Sealed | None = None
    interrupted: bool = False
    by: str = ""  # the agent
    data: Json = None  # structured output


class CallResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a tool call, and the input that a person put in place of the model's, if any."""

    result: ToolResult
    edited: Json = None


class TalkHead(msgspec.Struct, frozen=True, omit_defaults=True):
    """The conversation's own fields and counters."""

    agent: str
    participants: tuple[str, ...] = ()  # agents that joined
    next_turn: int = 1
    next_order: int = 0
    allowed: tuple[str, ...] = ()  # tools that a person approved for the whole conversation
    script: dict[str, Ranges] = {}  # by agent: entries of its model's script that are used up
    summary: str = ""  # of turns that left the window
    summarised: int = 0  # the last turn in it
    tainted: bool = False  # the summary is made from a turn that is tainted
    left_out: int = 0  # the last turn that left the window without being summarised
    spent: int = 0  # by model calls, in millionths of a credit
    added: int = 0  # credits that people added to the budget
    shortened: int = 0  # of answers before this place in the window, large results are given as previews
    measured: dict[str, tuple[int, int]] = {}  # by agent: tokens of its last request and answer, and its place


class TalkState:
    """The tables of a conversation. Only a `Draft` writes to them."""

    __slots__ = ("came", "edits", "given", "heads", "keys", "moves", "results", "turns")

    def __init__(self) -> None:
        self.heads: dict[int, TalkHead] = {}  # one, under 0
        self.turns: dict[int, Turn] = {}
        self.given: dict[int, Given] = {}
        self.moves: dict[MoveId, Move] = {}
        self.results: dict[CallId, CallResult] = {}
        self.came: dict[CallId, CallResult] = {}  # of async calls, until the model is told
        self.edits: dict[CallId, Json] = {}  # inputs that a person put in place of the model's
        self.keys: dict[int, str] = {}  # in chunks by turn: hashes of the keys of chat messages, and turns

    @property
    def head(self) -> TalkHead:
        return self.heads[0]

    def moving(self) -> Turn | None:
        """The turn whose time it is, if any. One that a turn looped in goes before that turn."""
        found = [turn for turn in self.turns.values() if turn.moving]
        return max(found, key=lambda turn: turn.number, default=None)

    def active(self) -> list[Turn]:
        """The turns that have not ended, in order."""
        return [turn for _, turn in sorted(self.turns.items()) if turn.phase != "ended"]

    def sort(self) -> None:
        """Put the tables in order, as they are in a conversation that was never loaded."""
        self.turns = dict(sorted(self.turns.items()))

    def rows(self) -> Iterator[tuple[str | int, ...]]:
        """The names of all rows, as they are stored."""
        if self.heads:
            yield ("talk",)
        yield from (("turn", number) for number in self.turns)
        yield from (("given", number) for number in self.given)
        yield from (("move", *move) for move in self.moves)
        yield from (("result", *call) for call in self.results)
        yield from (("came", *call) for call in self.came)
        yield from (("edit", *call) for call in self.edits)
        yield from (("keys", chunk) for chunk in self.keys)

    def turn_of_key(self, key: str) -> int | None:
        """The turn of the chat message that came with this key."""
        sought = f"{key_hash(key)}:"
        chunk = next((chunk for chunk in self.keys.values() if sought in chunk), "")
        return int(chunk.partition(sought)[2].partition(" ")[0]) if chunk else None

    def row(self, name: tuple[str | int, ...]) -> object:
        """The row of a name; None if it is not there."""
        table: dict[Any, Any] = getattr(self, _TABLES[name[0]])
        key = name[1:]
        return table.get(key if len(key) > 1 else key[0] if key else 0)

    def calls_of(self, turn: int, move: int) -> tuple[ToolCall, ...]:
        """The tool calls of a move."""
        return self.moves[turn, move].calls


_TABLES: dict[str | int, str] = {
    "talk": "heads",
    "turn": "turns",
    "given": "given",
    "move": "moves",
    "result": "results",
    "came": "came",
    "edit": "edits",
    "keys": "keys",
}
"""The tables of rows, by the first part of their names."""


def key_hash(key: str) -> str:
    """A short hash of the key of a chat message. Keys are kept for ever, so they are kept small."""
    return hashlib.sha256(key.encode()).hexdigest()[:20]


def keys_with(chunk: str, key: str, turn: int) -> str:
    """A chunk with one more key. It is text, because every chunk is loaded with the conversation, and few are read."""
    return f"{chunk}{key_hash(key)}:{turn} "


def call_path(turn: int, move: int | None = None, call: int | None = None) -> str:
    """The path of a call's token: the turn it belongs to, the move, and the position in it."""
    path = f"turn.{turn}"
    if move is not None:
        path += f".{move}"
    return path if call is None else f"{path}.{call}"


@lru_cache(maxsize=10_000)
def place_of(path: str) -> tuple[int, int | None, int | None]:
    """The turn, move and position in a call's path."""
    _, turn, *rest = path.split(".")
    numbers = [int(part) for part in rest]
    return int(turn), numbers[0] if numbers else None, numbers[1] if len(numbers) > 1 else None


def speaker_of(conversation: RunId, turn: Turn) -> Speaker:
    """For whom the calls of a turn work."""
    return Speaker(turn.agent, conversation, turn.number, turn.caller.user, turn.tainted)
