"""Run one action of a step, with infrastructure retries: the same call again, invisible to the task.

The retries are reported as notes, and counted in the failure.
"""

from collections.abc import Coroutine
from typing import Any

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionResult
from jeton.executor.call import CurrentCall
from jeton.executor.limits.idempotency import Completed
from jeton.executor.secrets import NO_SECRETS, ProjectSecrets
from jeton.executor.task.attempt import FAILURES, failed_attempt
from jeton.executor.task.compile import CompiledAction, CompiledIdempotencyKey
from jeton.executor.task.context import TaskContext
from jeton.executor.task.question import checked_question
from jeton.expression import Expression, Failed, Missing
from jeton.expression.counts import NotACount, count_of
from jeton.expression.mapping import failure_text
from jeton.model.definition.task import AsksInput, RetryPolicy, Suspended
from jeton.model.ids import idempotency_key
from jeton.model.json import Json
from jeton.model.note import RetryNote

MAX_NOTE_LENGTH = 1_000

_encode = msgspec.json.Encoder(order="deterministic").encode


def action_call(
    action: CompiledAction, given: Json, step: str, context: TaskContext, *, alone: bool
) -> ActionCall | ActionFailed:
    """The call of an action with its input, or why it cannot be made.

    `alone`: its step is the only one of the task, so that the task can be suspended and started again. That excludes
    actions with an idempotency key, because other calls may be waiting for theirs.
    """
    if action.input_validator is not None:
        problem = action.input_validator.problem(given, "input")
        if problem is not None:
            return ActionFailed("input_invalid", problem)
    task = context.call
    timeout = action.timeout_ms
    if isinstance(timeout, Expression):
        counted = count_of("execution.timeout_ms", timeout, {"input": task.input, "run": task.facts})
        if isinstance(counted, NotACount):
            return ActionFailed(counted.type, counted.message, fatal=True)
        timeout = counted
    return ActionCall(
        given,
        context.state,
        context.output,
        CurrentCall(
            task.run,
            task.token,
            task.node,
            task.attempt,
            step,
            1,
            idempotency_key(task.run, task.token, task.attempt, step),
        ),
        context.resources,
        action.settings,
        context.resources.secrets.of(action.settings) if action.has_secrets else NO_SECRETS,
        context.notes,
        action.profiles,
        alone and action.idempotency is None,
        task.at,
        task.facts,
        timeout,
        task.delivery,
        task.speaker,
        task.continuation,
        action.prompts,
        action.tools,
        action.memories,
    )


def run_action(action: CompiledAction, call: ActionCall) -> Coroutine[Any, Any, ActionResult]:
    """The result of the action, or its last failure. Transient failures are retried as the policy says."""
    if action.idempotency is not None:
        return _run_once(action, action.idempotency, call)
    return _run_with_retries(action, call)


async def _run_once(action: CompiledAction, idempotency: CompiledIdempotencyKey, call: ActionCall) -> ActionResult:
    """The result stored under the idempotency key, or that of a call made now. A second call waits for the first."""
    value = idempotency.expression.evaluate(call.scope())
    if isinstance(value, Failed):
        return ActionFailed("expression_error", failure_text("idempotency.key", value), fatal=True)
    if value is None or isinstance(value, Missing):
        return ActionFailed("no_idempotency_key", f"{idempotency.expression.source} has no value")
    key, store = f"{idempotency.name}:{_encode(value).decode()}", call.resources.idempotency
    async with call.resources.limiter.hold(("key", key), 1, call.call.run):
        found = await store.begin(key, call.call.idempotency_key)
        if isinstance(found, Completed):
            return found.result
        same_call = msgspec.structs.replace(call.call, idempotency_key=found.idempotency_key)
        result = await _run_with_retries(action, msgspec.structs.replace(call, call=same_call))
        if isinstance(result, ActionFailed):
            await store.forget(key)
        elif not isinstance(result, Suspended | AsksInput):
            await store.finish(key, result, idempotency.ttl_ms)
        return result


async def _run_with_retries(action: CompiledAction, call: ActionCall) -> ActionResult:
    while True:
        try:
            result = await action.attempt(call)
        except FAILURES as error:
            result = failed_attempt(error, action.is_transient, call)
        if call.secrets is not NO_SECRETS:
            result = _redacted(result, call.secrets)
        if type(result) is Suspended:
            return result
        if type(result) is AsksInput:
            return checked_question(result, call)
        if type(result) is not ActionFailed:
            break
        made = call.call
        if not result.transient or made.action_attempt >= action.policy.max_attempts:
            return result if made.action_attempt == 1 else msgspec.structs.replace(result, calls=made.action_attempt)
        delay = retry_delay_ms(action.policy, made.action_attempt, made.idempotency_key, result.retry_after_ms)
        due = call.resources.wall_clock() + delay
        call.report(RetryNote(made.step, made.action_attempt + 1, due, result.type, result.message[:MAX_NOTE_LENGTH]))
        if delay > 0:
            await call.resources.clock.sleep(delay)
        again = msgspec.structs.replace(made, action_attempt=made.action_attempt + 1)
        call = msgspec.structs.replace(call, call=again)
    problem = None if action.output_validator is None else action.output_validator.problem(result, "result")
    return result if problem is None else ActionFailed("output_invalid", problem)


def retry_delay_ms(policy: RetryPolicy, attempt: int, key: str, retry_after_ms: int | None = None) -> int:
    """The delay before the next attempt: that of the policy, or `retry_after_ms` if it is longer."""
    return max(policy.delay_ms(attempt, key), retry_after_ms or 0)


def _redacted(result: ActionResult, secrets: ProjectSecrets) -> ActionResult:
    """Redact the secrets in a result, whatever the kind of action."""
    if isinstance(result, ActionFailed):
        stack = None if result.stack is None else secrets.text(result.stack)
        texts = {"type": secrets.text(result.type), "message": secrets.text(result.message), "stack": stack}
        return msgspec.structs.replace(result, **texts)
    if isinstance(result, Suspended):
        return Suspended(result.until, secrets.text(result.sleep), secrets.value(result.state))
    if isinstance(result, AsksInput):
        schema = None if result.schema is None else msgspec.convert(secrets.value(result.schema), dict[str, Any])
        return AsksInput(secrets.text(result.title), schema, secrets.value(result.state), result.timeout_ms)
    return secrets.value(result)
