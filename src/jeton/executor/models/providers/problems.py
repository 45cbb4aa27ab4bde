"""What exceptions of pydantic-ai mean: by status and cause, never by the wording of a message alone."""

import ssl
from collections.abc import Iterator

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelTimeoutError,
    SuspendedResponseExpired,
    UnexpectedModelBehavior,
    UserError,
)

from jeton.executor.models.client import ModelProblem
from jeton.model.codes import FailureName

MAX_MESSAGE = 500
TRANSIENT_STATUS = frozenset((408, 409, 425, 429))

# how servers that speak the protocol of OpenAI say it, besides its own code
_TOO_LONG = (
    "context length",
    "context_length",
    "context window",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "exceeds the maximum number of tokens",
    "too many tokens",
)


def their_problem(error: Exception) -> ModelProblem | None:
    """The problem; None for an exception that is not of the library."""
    text = _shortened(str(error))
    if isinstance(error, ModelContextWindowExceededError):
        return ModelProblem("context_too_long", text)
    if isinstance(error, ModelHTTPError):
        return _of_status(error, text)
    if isinstance(error, ModelTimeoutError):
        return ModelProblem("model_timed_out", text, transient=True)
    if isinstance(error, ModelConnectionError):
        certificate = any(isinstance(each, ssl.SSLCertVerificationError) for each in _causes(error))
        return ModelProblem("model_unreachable", _with_cause(error), transient=not certificate)
    if isinstance(error, ModelAPIError | UnexpectedModelBehavior | SuspendedResponseExpired):
        return ModelProblem("model_error", text, transient=not isinstance(error, ModelQuotaExceededError))
    if isinstance(error, UserError | NotImplementedError):
        return ModelProblem("model_refused_request", text)
    return None


def _of_status(error: ModelHTTPError, text: str) -> ModelProblem:
    status = error.status_code
    wait = None if error.retry_after is None else int(error.retry_after * 1000)
    if isinstance(error, ModelQuotaExceededError):
        return ModelProblem("model_quota_exceeded", text)
    if status in TRANSIENT_STATUS or status >= 500:
        kind: FailureName = "model_rate_limited" if status == 429 else "model_error"
        return ModelProblem(kind, text, transient=True, retry_after_ms=wait)
    if status in (401, 403):
        return ModelProblem("model_access_refused", text)
    if status == 404:
        return ModelProblem("model_not_found", text)
    if status == 400 and any(words in str(error).lower() for words in _TOO_LONG):
        return ModelProblem("context_too_long", text)
    return ModelProblem("model_refused_request", text)


def _with_cause(error: Exception) -> str:
    """The message of a connection error, with that of its cause, which says more."""
    *_, cause = _causes(error)
    said = str(cause) or type(cause).__name__
    return _shortened(str(error) if cause is error or said in str(error) else f"{error}: {said}")


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    for _ in range(10):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _shortened(text: str) -> str:
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE - 1]}…"
