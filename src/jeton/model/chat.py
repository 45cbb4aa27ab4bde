"""What is said in conversations, and what goes to a model and comes back.

These are our own values: no journal has a message in the form of a library or a provider. All of them are plain JSON
when they travel as the input or result of a task.
"""

from typing import Literal, TypeAlias

import msgspec

from jeton.model.json import Json, JsonObject, Schema
from jeton.model.state.ranges import Ranges

ToolErrorCode: TypeAlias = Literal[
    "NOT_FOUND",
    "INVALID_INPUT",
    "EXECUTION_FAILED",
    "TIMEOUT",
    "REFUSED",
    "CANCELLED",
    "OUTCOME_UNKNOWN",
    "AGENT_DECLINED",
    "INTERNAL_ERROR",
]


class Attachment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A reference to an artifact that belongs to a chat message. Its bytes are read when a model is called."""

    id: str
    media_type: str
    size: int
    name: str | None = None


class ToolError(msgspec.Struct, frozen=True, omit_defaults=True):
    """The error result of a tool call, as a model is told of it."""

    code: ToolErrorCode
    message: str
    retriable: bool = False


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call of a model. `raw` is the text of arguments that are no JSON object."""

    id: str  # ours, unique in the conversation
    name: str
    input: Json = None
    raw: str | None = None


class ToolResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a tool call: a result, or an error."""

    id: str
    name: str
    result: Json = None
    error: ToolError | None = None


class Sealed(msgspec.Struct, frozen=True):
    """Parts of an answer that only their maker can read, such as signed thinking."""

    provider: str
    model: str
    parts: Json


# what a model is given


class _ModelMessage(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="role"):
    """The base class of what a model is given."""


class UserMessage(_ModelMessage, frozen=True, tag="user"):
    """What a person, another agent or jeton says to the model."""

    text: str
    attachments: tuple[Attachment, ...] = ()


class AssistantMessage(_ModelMessage, frozen=True, tag="assistant"):
    """What the model said, and the tools it called."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    sealed: Sealed | None = None


class ToolMessage(_ModelMessage, frozen=True, tag="tool"):
    """The results of the tool calls of the message before it, in the same order, each with one."""

    results: tuple[ToolResult, ...]


class SystemMessage(_ModelMessage, frozen=True, tag="system"):
    """Instructions in the middle of a history, as context assembly may give them."""

    text: str


ModelMessage: TypeAlias = UserMessage | AssistantMessage | ToolMessage | SystemMessage


class ToolSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool as a model is told of it."""

    name: str
    description: str
    input_schema: Schema


class ScriptPlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a conversation is in a script: the entries that were used, and what `when` conditions read.

    `own`: the call is not part of the dialogue (extraction, compaction), so only entries with a `when` answer it."""

    used: Ranges = ()
    message: str = ""
    moves: int = 0
    tool_results: tuple[JsonObject, ...] = ()
    own: bool = False


class ModelRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything a model call needs. Instructions and tools stand first, so that a longer history extends a shorter."""

    profile: str
    messages: tuple[ModelMessage, ...]
    instructions: str = ""
    tools: tuple[ToolSpec, ...] = ()
    output_schema: Schema | None = None
    script: ScriptPlace = ScriptPlace()
    turn: int | None = None  # of the conversation, for deltas; None: nothing is streamed
    move: int = 0


class TokenUsage(msgspec.Struct, frozen=True, omit_defaults=True):
    """The tokens of a model call."""

    input_tokens: int = 0
    output_tokens: int = 0


class CalledTool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call in an answer, before it has an id. `raw` is the text of arguments that are no JSON object."""

    name: str
    input: Json = None
    raw: str | None = None


class ModelAnswer(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="answer"):
    """A whole answer. `profile` and `model` are who gave it; `used`: entries of a script that were used for it."""

    text: str = ""
    calls: tuple[CalledTool, ...] = ()
    usage: TokenUsage = TokenUsage()
    finish: Literal["stop", "length", "refused"] = "stop"
    profile: str = ""
    model: str = ""
    data: Json = None  # the structured output, which fits the schema
    sealed: Sealed | None = None
    used: tuple[int, ...] = ()
    requests: int = 1  # how often a model was asked for it


class ModelFailed(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind", tag="failed"):
    """No answer: retries and fallbacks are spent, or the request itself was refused."""

    type: str  # a failure type: model_error, model_refused_request, context_too_long, output_invalid, ...
    message: str
    transient: bool = False
    usage: TokenUsage = TokenUsage()
    profile: str = ""
    used: tuple[int, ...] = ()
    requests: int = 1


ModelReply: TypeAlias = ModelAnswer | ModelFailed
"""What the internal `model` action gives back: also a failure is a value, because it says what was used."""


class Speaker(msgspec.Struct, frozen=True, omit_defaults=True):
    """For whom a task or a run works: an agent in a turn of a conversation, and the user who spoke to it."""

    agent: str
    conversation: str
    turn: int
    user: str | None = None
    tainted: bool = False  # the turn has read from an untrusted tool, or recalled a memory that came from one


class SeenText(msgspec.Struct, frozen=True):
    """The text so far of an answer that is being streamed, as the user has seen it."""

    turn: int
    move: int
    text: str


class Delta(msgspec.Struct, frozen=True):
    """A piece of an answer while it is streamed: live, unsequenced, never stored.

    `at` is the place of `text` in the answer's text. A new `delivery` begins at 0, and voids what came before."""

    conversation: str
    turn: int
    move: int
    delivery: int
    at: int
    text: str
