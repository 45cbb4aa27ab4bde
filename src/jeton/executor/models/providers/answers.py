"""Whole answers, from the terms of pydantic-ai into ours."""

from typing import Literal

import msgspec
from pydantic_ai import messages as theirs

from jeton.executor.models.client import ModelProblem, RequestFailed
from jeton.executor.models.providers.sealed import sealed_parts
from jeton.model.chat import CalledTool, ModelAnswer, Sealed, TokenUsage
from jeton.model.definition.profile import ModelProfile
from jeton.model.json import Json

Finish = Literal["stop", "length", "refused"]


def answer_of(response: theirs.ModelResponse, profile: ModelProfile) -> ModelAnswer:
    """The answer of a response that has ended. Raises RequestFailed if it was cut, or ended in an error.

    A stream that ends quietly looks complete to the library; only the missing reason tells."""
    details = response.provider_details or {}
    usage = TokenUsage(response.usage.input_tokens, response.usage.output_tokens)
    refusal = details.get("refusal")
    if not details.get("finish_reason") and refusal is None:
        problem = "the stream ended before the answer did"
        raise RequestFailed(ModelProblem("stream_cut", problem, transient=True, usage=usage))
    # a response that was stopped for its length is not complete, and an answer all the same
    is_answer = response.state == "complete" or response.finish_reason in ("length", "content_filter")
    if response.finish_reason == "error" or not is_answer:
        problem = f"the answer ended with '{details.get('finish_reason')}'"
        raise RequestFailed(ModelProblem("model_error", problem, transient=True, usage=usage))
    text = "".join(part.content for part in response.parts if isinstance(part, theirs.TextPart))
    kept = sealed_parts(response.parts)
    return ModelAnswer(
        text=text or (refusal if isinstance(refusal, str) else ""),
        calls=tuple(called(part) for part in response.parts if isinstance(part, theirs.ToolCallPart)),
        usage=usage,
        finish=_finish(response),
        model=response.model_name or "",
        sealed=None if kept is None else Sealed(profile.provider, profile.model or "", kept),
    )


def _finish(response: theirs.ModelResponse) -> Finish:
    match response.finish_reason:
        case "length":
            return "length"
        case "content_filter":
            return "refused"
        case _:
            return "stop"


def called(part: theirs.ToolCallPart) -> CalledTool:
    """A tool call. Arguments that are no JSON object are kept as the text they are."""
    if isinstance(part.args, dict):
        return CalledTool(part.tool_name, part.args)
    try:
        found: Json = msgspec.json.decode(part.args) if part.args else {}
    except (msgspec.DecodeError, RecursionError):
        found = None
    return CalledTool(part.tool_name, found) if isinstance(found, dict) else CalledTool(part.tool_name, raw=part.args)
