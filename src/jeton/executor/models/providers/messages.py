"""What a model is given, in the terms of pydantic-ai. Ids of tool calls are ours, whichever model made the call."""

import hashlib
import re
from collections.abc import Mapping, Sequence

import msgspec
from pydantic_ai import messages as theirs
from pydantic_ai.messages import UserContent

from jeton.executor.models.attachments import attachment_line
from jeton.executor.models.client import ModelCall
from jeton.executor.models.providers.sealed import opened
from jeton.model.chat import (
    AssistantMessage,
    ModelMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)

NO_TEXT = "(no text)"  # providers refuse empty messages
LEFT_OUT = "(the beginning of the conversation is left out)"

_WIRE_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_encode = msgspec.json.Encoder(order="deterministic").encode


def their_messages(call: ModelCall) -> list[theirs.ModelMessage]:
    """The messages of a request. What is said between two answers of the model is one message."""
    made: list[theirs.ModelMessage] = []
    pending: list[theirs.ModelRequestPart] = []
    for message in call.request.messages:
        if isinstance(message, AssistantMessage):
            parts = _answer_parts(message, call)
            if not parts:
                continue
            if pending or not made:
                made.append(theirs.ModelRequest(pending or [theirs.UserPromptPart(LEFT_OUT)]))
                pending = []
            made.append(theirs.ModelResponse(parts, provider_name=None, model_name=call.profile.model))
        else:
            pending.extend(_request_parts(message, call))
    instructions = call.request.instructions or None
    made.append(theirs.ModelRequest(pending or [theirs.UserPromptPart(NO_TEXT)], instructions=instructions))
    return made


def wire_id(id: str) -> str:
    """An id of a tool call that every provider takes."""
    return id if _WIRE_ID.fullmatch(id) else f"c{hashlib.sha256(id.encode()).hexdigest()[:32]}"


def _request_parts(message: ModelMessage, call: ModelCall) -> Sequence[theirs.ModelRequestPart]:
    match message:
        case UserMessage():
            return [theirs.UserPromptPart(_content(message, call.attachments))]
        case ToolMessage(results=results):
            return [_result_part(result, call.profile.provider) for result in results]
        case SystemMessage(text=text):
            if call.profile.provider.startswith("openai"):
                return [theirs.SystemPromptPart(text or NO_TEXT)]
            return [theirs.UserPromptPart(f"[system] {text}")]  # others take instructions at the beginning only
        case AssistantMessage():
            return []


def _content(message: UserMessage, attachments: Mapping[str, bytes]) -> str | list[UserContent]:
    """The text, with a line for each attachment that the model cannot read, and the others as parts."""
    lines = [attachment_line(each) for each in message.attachments if each.id not in attachments]
    text = "\n".join([message.text, *lines] if message.text else lines)
    files = [
        theirs.BinaryContent(attachments[each.id], media_type=each.media_type.partition(";")[0].strip())
        for each in message.attachments
        if each.id in attachments
    ]
    if not files:
        return text or NO_TEXT
    return [text, *files] if text else [*files]


def _result_part(result: ToolResult, provider: str) -> theirs.ToolReturnPart:
    """A result as JSON text; an error is marked as one, where the provider can tell them apart."""
    id = wire_id(result.id)
    if result.error is not None:
        error = msgspec.to_builtins(result.error)
        if provider == "anthropic":
            return theirs.ToolReturnPart(result.name, _encode(error).decode(), id, outcome="failed")
        marked = {"error": error}
        return theirs.ToolReturnPart(result.name, marked if provider == "google" else _encode(marked).decode(), id)
    if provider == "google":
        return theirs.ToolReturnPart(result.name, result.result, id)
    return theirs.ToolReturnPart(result.name, _encode(result.result).decode(), id)


def _answer_parts(message: AssistantMessage, call: ModelCall) -> list[theirs.ModelResponsePart]:
    calls = [_call_part(each) for each in message.calls]
    sealed = message.sealed
    if sealed is not None and (sealed.provider, sealed.model) == (call.profile.provider, call.profile.model):
        parts = opened(sealed.parts, message.text, calls)
        if parts is not None:
            return parts
    text: list[theirs.ModelResponsePart] = [theirs.TextPart(message.text)] if message.text else []
    return [*text, *calls]


def _call_part(call: ToolCall) -> theirs.ToolCallPart:
    given = call.input if isinstance(call.input, dict) else {}
    arguments = {"_not_json": call.raw} if call.raw is not None else given
    return theirs.ToolCallPart(call.name, arguments, wire_id(call.id))
