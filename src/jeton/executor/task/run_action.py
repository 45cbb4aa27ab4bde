"""Run one action of a step, with infrastructure retries: the same call again, invisible to the task.

The retries are reported as notes, and counted in the failure.
"""

import asyncio

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionResult, Resources, failure_from
from jeton.executor.call import CurrentCall, TaskCall
from jeton.executor.clock import TimedOut
from jeton.executor.limits.circuit_breakers import CircuitOpen
from jeton.executor.limits.idempotency import Completed
from jeton.executor.python.stack import stack_of
from jeton.executor.secrets import NO_SECRETS, ProjectSecrets, SecretUnavailable
from jeton.executor.task.compile import CompiledAction, CompiledIdempotencyKey
from jeton.executor.task.notes import NO_NOTES, NoteLimiter
from jeton.executor.workers.cancellation import is_being_cancelled
from jeton.expression import Expression, Failed, Missing
from jeton.expression.counts import NotACount, count_of
from jeton.expression.mapping import failure_text
from jeton.model.definition.task import RetryPolicy, Suspended
from jeton.model.json import Json, JsonObject
from jeton.model.note import RetryNote

MAX_NOTE_LENGTH = 1_000

_encode = msgspec.json.Encoder(order="deterministic").encode


async def run_action(
    action: CompiledAction,
    given: Json,
    state: JsonObject,
    output: JsonObject,
    task: TaskCall,
    step: str,
    resources: Resources,
    notes: NoteLimiter = NO_NOTES,
    *,
    alone: bool = False,
) -> ActionResult:
    """The result of the action, or its last failure. Transient failures are retried as the policy says.

    `alone`: its step is the only one of the task, so that the task can be suspended and started again. That excludes
    actions with an idempotency key, because other calls may be waiting for theirs.
    """
    if action.input_validator is not None:
        problem = action.input_validator.problem(given, "input")
        if problem is not None:
            return ActionFailed("input_invalid", problem)
    timeout = action.timeout_ms
    if isinstance(timeout, Expression):
        counted = count_of("execution.timeout_ms", timeout, {"input": task.input, "run": task.facts})
        if isinstance(counted, NotACount):
            return ActionFailed(counted.type, counted.message, fatal=True)
        timeout = counted
    secrets = resources.secrets.of(action.settings)
    call = CurrentCall(task.run, task.token, task.node, task.attempt, step, 1, task.step_key(step))
    may_suspend = alone and action.idempotency is None
    first = ActionCall(
        given,
        state,
        output,
        call,
        resources,
        action.settings,
        secrets,
        notes,
        action.profiles,
        may_suspend,
        task.at,
        task.facts,
        timeout,
    )
    if action.idempotency is not None:
        return await _run_once(action, action.idempotency, first)
    return await _run_with_retries(action, first)


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
        elif not isinstance(result, Suspended):
            await store.finish(key, result, idempotency.ttl_ms)
        return result


async def _run_with_retries(action: CompiledAction, call: ActionCall) -> ActionResult:
    while True:
        plain = action.limits is None and action.breaker is None
        result = _redacted(await (_run_attempt(action, call) if plain else _run_limited(action, call)), call.secrets)
        if type(result) is Suspended:
            return result
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


async def _run_limited(action: CompiledAction, call: ActionCall) -> ActionResult:
    """One attempt, once its limits allow it. Waiting does not count towards the timeout of the action."""
    if action.limits is None:
        return await _run_guarded(action, call)
    async with call.resources.limiter.call(action.limits, call.call.run, call.resources.clock):
        return await _run_guarded(action, call)


async def _run_guarded(action: CompiledAction, call: ActionCall) -> ActionResult:
    """One attempt, unless the circuit is open. A failure that is not transient counts as a response of the service."""
    guard = action.breaker
    if guard is None:
        return await _run_attempt(action, call)
    try:
        with call.resources.breakers.call(guard.name, guard.breaker, call.resources.clock) as permitted:
            result = await _run_attempt(action, call)
            permitted.responded = not (isinstance(result, ActionFailed) and result.transient)
            return result
    except CircuitOpen as circuit:
        return ActionFailed("circuit_open", str(circuit), transient=True, retry_after_ms=circuit.wait_ms)


async def _run_attempt(action: CompiledAction, call: ActionCall) -> ActionResult:
    """One attempt. Whatever a function raises is a failure, even SystemExit."""
    try:
        if call.timeout_ms is None or action.lane == "instant":
            return await action.handler(call)
        return await call.resources.clock.within(call.timeout_ms, action.handler(call))
    except TimedOut:
        return ActionFailed("action_timed_out", f"did not finish within {call.timeout_ms} ms", transient=True)
    except SecretUnavailable as unavailable:
        return ActionFailed("secret_unavailable", str(unavailable))
    except asyncio.CancelledError as error:
        if is_being_cancelled():
            raise
        return _raised(error, action, call)
    except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        # if the coroutine is closed, its callers are closed too and the result is dropped
        return _raised(error, action, call)


def _raised(error: BaseException, action: CompiledAction, call: ActionCall) -> ActionFailed:
    """The failure, with its traceback."""
    return msgspec.structs.replace(failure_from(error, action.is_transient), stack=stack_of(error))


def _redacted(result: ActionResult, secrets: ProjectSecrets) -> ActionResult:
    """Redact the secrets in a result, whatever the kind of action."""
    if secrets is NO_SECRETS:
        return result
    if isinstance(result, ActionFailed):
        stack = None if result.stack is None else secrets.text(result.stack)
        texts = {"type": secrets.text(result.type), "message": secrets.text(result.message), "stack": stack}
        return msgspec.structs.replace(result, **texts)
    if isinstance(result, Suspended):
        return Suspended(result.until, secrets.text(result.sleep))
    return secrets.value(result)
