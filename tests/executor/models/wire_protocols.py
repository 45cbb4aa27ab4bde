"""The protocols of providers, as their servers speak them: events of a stream, errors, and what is refused."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

HALF = 2


class Answer(msgspec.Struct, frozen=True):
    """What a model says: text, and calls as name and the text of the arguments."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    finish: str = "stop"  # stop | length | refused
    thinking: str = ""
    input_tokens: int = 11
    output_tokens: int = 5


class Refusal(msgspec.Struct, frozen=True):
    """An error of the provider."""

    status: int
    message: str
    code: str = ""
    headers: dict[str, str] = {}


class Protocol:
    """How one provider speaks."""

    def takes(self, path: str) -> bool:
        raise NotImplementedError

    def fixed(self, path: str) -> Any:
        """The answer to a request that needs none of the plan; None for all others."""
        return None

    def refuses(self, body: Any) -> str | None:
        """Why the provider refuses a request."""
        raise NotImplementedError

    def error(self, refusal: Refusal) -> Any:
        """The body of an error."""
        return {"error": {"message": refusal.message, "type": "error", "code": refusal.code or None}}

    def events(self, answer: Answer) -> Iterator[str]:
        """The events of a stream, the first of them before any text."""
        raise NotImplementedError

    def whole(self, answer: Answer, body: Any) -> Any:
        """The body of an answer that is not streamed."""
        raise NotImplementedError

    def middle(self, events: Sequence[str]) -> int:
        """How many events are sent before a fault: some text, and no end."""
        return len(events) // HALF

    def named(self, data: str) -> str:
        """An event with this data."""
        return f"data: {data}\n\n"


class Chat(Protocol):
    """Chat completions of OpenAI."""

    def takes(self, path: str) -> bool:
        return path in ("/v1/chat/completions", "/v1/embeddings")

    def fixed(self, path: str) -> Any:
        if path != "/v1/embeddings":
            return None
        vectors = [{"object": "embedding", "index": index, "embedding": [0.5, float(index)]} for index in range(2)]
        return {"object": "list", "data": vectors, "model": "e1", "usage": {"prompt_tokens": 4, "total_tokens": 4}}

    def refuses(self, body: Any) -> str | None:
        waiting: list[str] = []
        for message in body["messages"]:
            if message["role"] == "tool":
                if message["tool_call_id"] not in waiting:
                    return f"no tool call '{message['tool_call_id']}' before its result"
                waiting.remove(message["tool_call_id"])
                continue
            if waiting:
                return f"an assistant message with 'tool_calls' must be followed by tool messages: {waiting}"
            if not message.get("content") and not message.get("tool_calls"):
                return f"empty content of {message['role']}"
            waiting = [call["id"] for call in message.get("tool_calls") or ()]
        return "tool results are missing" if waiting else None

    def events(self, answer: Answer) -> Iterator[str]:
        yield self._event({"role": "assistant", "content": ""})
        for piece in _pieces(answer.text):
            yield self._event({"content": piece})
        for index, (name, arguments) in enumerate(answer.calls):
            function = {"name": name, "arguments": ""}
            call = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
            yield self._event({"tool_calls": [call]})
            for piece in _pieces(arguments):
                yield self._event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        finish = {"stop": "tool_calls" if answer.calls else "stop", "length": "length", "refused": "content_filter"}
        yield self._event({}, finish[answer.finish])
        usage = {"prompt_tokens": answer.input_tokens, "completion_tokens": answer.output_tokens, "total_tokens": 16}
        yield self.named(json.dumps({**self._head(), "choices": [], "usage": usage}))
        yield self.named("[DONE]")

    def _event(self, delta: Any, finish: str | None = None) -> str:
        return self.named(
            json.dumps({**self._head(), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        )

    def _head(self) -> Any:
        return {"id": "chat1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "gpt-wire-1"}

    def middle(self, events: Sequence[str]) -> int:
        return HALF + 1


class Responses(Protocol):
    """Responses of OpenAI, also in the background: such a response is done when it is fetched a second time."""

    def __init__(self) -> None:
        self.background: dict[str, tuple[Answer, int]] = {}

    def takes(self, path: str) -> bool:
        return path.startswith("/v1/responses")

    def fixed(self, path: str) -> Any:
        id = path.removeprefix("/v1/responses").lstrip("/")
        if not id:
            return None
        answer, fetched = self.background[id]
        self.background[id] = answer, fetched + 1
        return self._response(answer, id, "completed" if fetched else "in_progress", background=True)

    def refuses(self, body: Any) -> str | None:
        items: list[Any] = body["input"] if isinstance(body["input"], list) else []
        called = [item["call_id"] for item in items if item.get("type") == "function_call"]
        given = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
        if len(set(called)) < len(called):
            return f"call ids are used twice: {called}"
        if sorted(called) != sorted(given):
            return f"No tool output found for function call: {called} {given}"
        if any(item.get("role") and not item.get("content") for item in items):
            return "empty content"
        return None

    def events(self, answer: Answer) -> Iterator[str]:
        numbers = iter(range(1000))
        running = self._response(Answer(), "resp1", "in_progress")

        def event(kind: str, **fields: Any) -> str:
            data = {"type": kind, "sequence_number": next(numbers), **fields}
            return f"event: {kind}\ndata: {json.dumps(data)}\n\n"

        yield event("response.created", response=running)
        for index, item in enumerate(self._items(answer)):
            place = {"output_index": index, "item_id": item["id"]}
            if item["type"] == "message":
                part: Any = {"type": "output_text", "text": "", "annotations": []}
                yield event("response.output_item.added", output_index=index, item={**item, "content": []})
                yield event("response.content_part.added", content_index=0, part=part, **place)
                for piece in _pieces(answer.text):
                    yield event("response.output_text.delta", content_index=0, delta=piece, logprobs=[], **place)
            elif item["type"] == "function_call":
                yield event("response.output_item.added", output_index=index, item={**item, "arguments": ""})
                for piece in _pieces(item["arguments"]):
                    yield event("response.function_call_arguments.delta", delta=piece, **place)
            yield event("response.output_item.done", output_index=index, item=item)
        status = {"stop": "completed", "length": "incomplete", "refused": "incomplete"}[answer.finish]
        yield event(f"response.{status}", response=self._response(answer, "resp1", status))

    def whole(self, answer: Answer, body: Any) -> Any:
        if not body.get("background"):
            return self._response(answer, "resp1", "completed")
        id = f"resp_bg{len(self.background)}"
        self.background[id] = answer, 0
        return self._response(answer, id, "queued", background=True)

    def middle(self, events: Sequence[str]) -> int:
        return HALF * 2 + 1

    def _items(self, answer: Answer) -> Iterator[Any]:
        if answer.thinking:
            yield {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": answer.thinking}
        if answer.text:
            content: Any = [{"type": "output_text", "text": answer.text, "annotations": []}]
            yield {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
        for index, (name, arguments) in enumerate(answer.calls):
            fields = {"call_id": f"call_{index}", "name": name, "arguments": arguments, "status": "completed"}
            yield {"type": "function_call", "id": f"fc_{index}", **fields}

    def _response(self, answer: Answer, id: str, status: str, *, background: bool = False) -> Any:
        done = status in ("completed", "incomplete")
        reason = {"length": "max_output_tokens", "refused": "content_filter"}.get(answer.finish)
        usage = {
            "input_tokens": answer.input_tokens,
            "output_tokens": answer.output_tokens,
            "total_tokens": answer.input_tokens + answer.output_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        return {
            "id": id,
            "object": "response",
            "created_at": 1_700_000_000,
            "model": "gpt-wire-1",
            "status": status,
            "background": background,
            "output": list(self._items(answer)) if done else [],
            "usage": usage if done else None,
            "error": None,
            "incomplete_details": {"reason": reason} if reason and done else None,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }


class Messages(Protocol):
    """Messages of Anthropic."""

    def takes(self, path: str) -> bool:
        return path == "/v1/messages"

    def refuses(self, body: Any) -> str | None:
        used: set[str] = set()
        waiting: list[str] = []
        for place, message in enumerate(body["messages"]):
            blocks = message["content"]
            blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
            if place == 0 and message["role"] != "user":
                return 'first message must use the "user" role'
            if not blocks or any(block["type"] == "text" and not block["text"].strip() for block in blocks):
                return f"messages.{place}: text content blocks must be non-empty"
            given = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            if given != waiting:
                return f"messages.{place}: `tool_use` ids {waiting} were found without `tool_result` blocks: {given}"
            waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
            if used & set(waiting) or len(set(waiting)) < len(waiting):
                return "`tool_use` ids must be unique"
            used |= set(waiting)
        return f"`tool_use` ids {waiting} were found without `tool_result`" if waiting else None

    def error(self, refusal: Refusal) -> Any:
        kinds = {429: "rate_limit_error", 529: "overloaded_error", 400: "invalid_request_error"}
        kind = refusal.code or kinds.get(refusal.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": refusal.message}}

    def events(self, answer: Answer) -> Iterator[str]:
        usage = {"input_tokens": answer.input_tokens, "output_tokens": 1}
        head: Any = {"id": "msg1", "type": "message", "role": "assistant", "model": "claude-wire-1", "content": []}
        yield self._event("message_start", message={**head, "stop_reason": None, "usage": usage})
        blocks: list[tuple[Any, list[Any]]] = []
        if answer.thinking:
            thinking = [
                {"type": "thinking_delta", "thinking": answer.thinking},
                {"type": "signature_delta", "signature": f"signed({answer.thinking})"},
            ]
            blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, thinking))
        if answer.text:
            deltas: list[Any] = [{"type": "text_delta", "text": piece} for piece in _pieces(answer.text)]
            blocks.append(({"type": "text", "text": ""}, deltas))
        for index, (name, arguments) in enumerate(answer.calls):
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(arguments)]
            blocks.append(({"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}, deltas))
        for index, (block, deltas) in enumerate(blocks):
            yield self._event("content_block_start", index=index, content_block=block)
            for delta in deltas:
                yield self._event("content_block_delta", index=index, delta=delta)
            yield self._event("content_block_stop", index=index)
        reasons = {"stop": "tool_use" if answer.calls else "end_turn", "length": "max_tokens", "refused": "refusal"}
        ended = {"stop_reason": reasons[answer.finish], "stop_sequence": None}
        yield self._event("message_delta", delta=ended, usage={"output_tokens": answer.output_tokens})
        yield self._event("message_stop")

    def middle(self, events: Sequence[str]) -> int:
        return HALF + 2

    def named(self, data: str) -> str:
        return f"event: content_block_delta\ndata: {data}\n\n"

    def _event(self, kind: str, **fields: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


class Gemini(Protocol):
    """The Gemini API. Arguments of calls are objects there, so they cannot be cut short."""

    def takes(self, path: str) -> bool:
        return path.startswith("/v1/models/")

    def refuses(self, body: Any) -> str | None:
        waiting: list[str] = []
        for content in body["contents"]:
            if not content["parts"] or any(part.get("text") == "" for part in content["parts"]):
                return "contents must not be empty"
            given = [part["functionResponse"]["name"] for part in content["parts"] if "functionResponse" in part]
            if given != waiting:
                return "the number of function response parts must equal that of the function call parts"
            waiting = [part["functionCall"]["name"] for part in content["parts"] if "functionCall" in part]
        return "function responses are missing" if waiting else None

    def error(self, refusal: Refusal) -> Any:
        status = {400: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED"}.get(refusal.status, "UNKNOWN")
        return {"error": {"code": refusal.status, "message": refusal.message, "status": status}}

    def events(self, answer: Answer) -> Iterator[str]:
        for piece in _pieces(answer.text):
            yield self._event([{"text": piece}])
        for name, arguments in answer.calls:
            yield self._event([{"functionCall": {"name": name, "args": json.loads(arguments or "{}")}}])
        finish = {"stop": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}[answer.finish]
        yield self._event([{"text": ""}], finish, answer)

    def _event(self, parts: Any, finish: str | None = None, answer: Answer | None = None) -> str:
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}}
        event = {"candidates": [candidate if finish is None else {**candidate, "finishReason": finish}]}
        usage: Any = {} if answer is None else _gemini_usage(answer)
        return self.named(json.dumps({**event, **usage, "modelVersion": "gemini-wire-1", "responseId": "g1"}))


def _gemini_usage(answer: Answer) -> Any:
    tokens = {"promptTokenCount": answer.input_tokens, "candidatesTokenCount": answer.output_tokens}
    return {"usageMetadata": {**tokens, "totalTokenCount": answer.input_tokens + answer.output_tokens}}


PROTOCOLS: dict[str, Protocol] = {
    "openai": Chat(),
    "openai_responses": Responses(),
    "anthropic": Messages(),
    "google": Gemini(),
}


def _pieces(text: str) -> list[str]:
    return [text[start : start + 6] for start in range(0, len(text), 6)]
