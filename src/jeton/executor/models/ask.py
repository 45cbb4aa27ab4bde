"""One request to a model, and requests that are made again: what answers and embeddings share."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import msgspec

from jeton.executor.action import ActionCall
from jeton.executor.clock import TimedOut
from jeton.executor.models.attachments import read_attachments
from jeton.executor.models.client import ModelCall, ModelClient, ModelProblem, RequestFailed
from jeton.executor.python.transient import is_transient
from jeton.executor.secrets import SecretUnavailable
from jeton.model.chat import ModelFailed, ModelRequest, TokenUsage
from jeton.model.definition.profile import DEFAULT_MODEL_RETRY, MOST_TOKENS, ModelProfile
from jeton.model.note import RetryNote, TokensNote
from jeton.model.storable import valid_text

Value = TypeVar("Value")

DEFAULT_TIMEOUT_MS = 300_000
MAX_RETRY_AFTER_MS = 120_000  # a provider that wants a longer wait is given up, for the next fallback
MAX_NOTE_LENGTH = 1_000


async def ask_with_retries(
    call: ActionCall,
    profile: ModelProfile,
    ask: Callable[[], Awaitable[Value | ModelProblem]],
    asked: Callable[[], int],
) -> Value | ModelProblem:
    """What was asked for, or the last problem. `asked` tells how many requests were made."""
    policy = profile.retry_policy or DEFAULT_MODEL_RETRY
    attempt = 1
    while True:
        found = await ask()
        if not isinstance(found, ModelProblem):
            return found
        found = msgspec.structs.replace(found, message=call.secrets.text(valid_text(found.message)))
        if not found.transient or attempt >= policy.max_attempts:
            return found
        wait = found.retry_after_ms or 0
        if wait > MAX_RETRY_AFTER_MS:
            problem = f"{found.message}; it asks to wait {wait} ms, and {MAX_RETRY_AFTER_MS} is the most"
            return msgspec.structs.replace(found, message=problem)
        delay = max(policy.delay_ms(attempt, call.call.idempotency_key), wait)
        due = call.resources.wall_clock() + delay
        text = found.message[:MAX_NOTE_LENGTH]
        call.report(RetryNote(call.call.step, asked() + 1, due, found.type, text))
        if delay > 0:
            await call.resources.clock.sleep(delay)
        attempt += 1


async def ask_client(
    call: ActionCall,
    profile: ModelProfile,
    request: ModelRequest,
    key: str,
    ask: Callable[[ModelClient, ModelCall], Coroutine[Any, Any, Value]],
) -> Value | ModelProblem:
    """One request, within the timeout of the profile."""
    client: ModelClient | None = None
    try:
        client = await call.resources.models.get(profile.provider, call.resources.threads)
        made = ModelCall(
            profile=profile,
            request=request,
            api_key=None if profile.api_key is None else await call.secret(profile.api_key),
            attachments=await read_attachments(request, profile, call.call.run, call.resources.artifacts),
            clock=call.resources.clock,
            idempotency=call.resources.idempotency,
            key=key,
        )
        timeout = profile.timeout_ms or DEFAULT_TIMEOUT_MS
        return await call.resources.clock.within(timeout, ask(client, made))
    except Exception as error:
        return _problem_of(error, client, profile)


def _problem_of(error: Exception, client: ModelClient | None, profile: ModelProfile) -> ModelProblem:
    """What an exception means: for us, for the client, or in general."""
    if isinstance(error, RequestFailed):
        return error.problem
    if isinstance(error, TimedOut):
        timeout = profile.timeout_ms or DEFAULT_TIMEOUT_MS
        return ModelProblem("model_timed_out", f"no answer within {timeout} ms", transient=True)
    if isinstance(error, SecretUnavailable):
        return ModelProblem("secret_unavailable", str(error))
    known = None if client is None else client.problem_of(error)
    if known is not None:
        return known
    return ModelProblem("model_error", f"{type(error).__name__}: {error}", is_transient(error))


def report_tokens(call: ActionCall, name: str, profile: ModelProfile, usage: TokenUsage) -> None:
    """Report the tokens of one request, with their cost."""
    given, made = (max(0, min(count, MOST_TOKENS)) for count in (usage.input_tokens, usage.output_tokens))
    millionths = None if profile.prices is None else profile.prices.millionths(given, made)
    call.report(TokensNote(call.call.step, name, given, made, millionths))


def unknown_profile(name: str, call: ActionCall) -> ModelFailed:
    """The failure of a call that names a profile which is not there."""
    known = ", ".join(sorted(call.profiles)) or "none"
    problem = ModelProblem("unknown_profile", f"there is no model profile '{name}'; the project has: {known}")
    return ModelFailed(problem.type, problem.message, profile=name)
