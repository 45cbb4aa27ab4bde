"""One action as its step sees it. This is the infrastructure retry: the same call again, unseen by the task."""

import asyncio
import traceback

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionResult, Resources, failure_from
from jeton.executor.call import CurrentCall, TaskCall
from jeton.executor.clock import TimedOut
from jeton.executor.limits.circuit_breakers import CircuitOpen
from jeton.executor.limits.idempotency import Completed
from jeton.executor.secrets import NO_SECRETS, ProjectSecrets, SecretUnavailable
from jeton.executor.task.compile import CompiledAction, CompiledIdempotencyKey
from jeton.executor.task.notes import NO_NOTES, NoteLimiter
from jeton.executor.workers.cancellation import is_being_cancelled
from jeton.expression import Failed, Missing
from jeton.expression.mapping import failure_text
from jeton.model.definition.task import RetryPolicy, Suspended
from jeton.model.json import Json, JsonObject
from jeton.model.storable import valid_text

LONGEST_STACK = 8_000

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
    """The action's result, or its last failure. Only what is transient is tried again, and only as the policy says.

    `alone`: its step is the only one of the task, so that beginning the task again repeats nothing else. One with a key
    of its own keeps its place all the same, because others wait behind it.
    """
    if action.input_validator is not None:
        problem = action.input_validator.problem(given, "input")
        if problem is not None:
            return ActionFailed("input_invalid", problem)
    secrets = resources.secrets.of(action.settings)
    call = CurrentCall(task.run, task.token, task.node, task.attempt, step, 1, task.step_key(step))
    may_suspend = alone and action.once is None
    first = ActionCall(
        given, state, output, call, resources, action.settings, secrets, notes, action.profiles, may_suspend, task.at
    )
    return await (_tries(action, first) if action.once is None else _once(action, action.once, first))


async def _once(action: CompiledAction, once: CompiledIdempotencyKey, call: ActionCall) -> ActionResult:
    """What the first call with the key gave, or gives now: a second one waits for it, and is made only if it fails."""
    value = once.expression.evaluate(call.scope())
    if isinstance(value, Failed):
        return ActionFailed("expression_error", failure_text("idempotency.key", value), fatal=True)
    if value is None or isinstance(value, Missing):
        return ActionFailed("no_idempotency_key", f"{once.expression.source} gives no key")
    key, keys = f"{once.name}:{_encode(value).decode()}", call.resources.idempotency
    async with call.resources.limiter.turn(("key", key), 1, call.call.run):
        found = await keys.begin(key, call.call.idempotency_key)
        if isinstance(found, Completed):
            return found.result
        same_call = msgspec.structs.replace(call.call, idempotency_key=found.call)
        result = await _tries(action, msgspec.structs.replace(call, call=same_call))
        if isinstance(result, ActionFailed):
            await keys.forget(key)
        elif not isinstance(result, Suspended):
            await keys.finish(key, result, once.ttl_ms)
        return result


async def _tries(action: CompiledAction, call: ActionCall) -> ActionResult:
    while True:
        plain = action.limits is None and action.breaker is None
        result = _redacted(await (_attempt(action, call) if plain else _in_turn(action, call)), call.secrets)
        if type(result) is Suspended:
            return result
        if type(result) is not ActionFailed:
            break
        made = call.call
        if not result.transient or made.action_attempt >= action.policy.max_attempts:
            return result
        delay = retry_delay_ms(action.policy, made.action_attempt, made.idempotency_key, result.retry_after_ms)
        if delay > 0:
            await call.resources.clock.sleep(delay)
        again = msgspec.structs.replace(made, action_attempt=made.action_attempt + 1)
        call = msgspec.structs.replace(call, call=again)
    problem = None if action.output_validator is None else action.output_validator.problem(result, "result")
    return result if problem is None else ActionFailed("output_invalid", problem)


def retry_delay_ms(policy: RetryPolicy, attempt: int, key: str, retry_after_ms: int | None = None) -> int:
    """The delay before the next attempt; longer if the other side asks for it."""
    return max(policy.delay_ms(attempt, key), retry_after_ms or 0)


async def _in_turn(action: CompiledAction, call: ActionCall) -> ActionResult:
    """One attempt, when its limits allow it. Waiting for a turn is no part of the action's own time."""
    if action.limits is None:
        return await _guarded(action, call)
    async with call.resources.limiter.call(action.limits, call.call.run, call.resources.clock):
        return await _guarded(action, call)


async def _guarded(action: CompiledAction, call: ActionCall) -> ActionResult:
    """One attempt, unless too many before it failed. A failure that does not pass is an answer: somebody is there."""
    guard = action.breaker
    if guard is None:
        return await _attempt(action, call)
    try:
        with call.resources.breakers.call(guard.name, guard.breaker, call.resources.clock) as attempted:
            result = await _attempt(action, call)
            attempted.answered = not (isinstance(result, ActionFailed) and result.transient)
            return result
    except CircuitOpen as circuit:
        return ActionFailed("circuit_open", str(circuit), transient=True, retry_after_ms=circuit.wait_ms)


async def _attempt(action: CompiledAction, call: ActionCall) -> ActionResult:
    """One attempt. Whatever a function raises is a failure, even if it asks the process to end."""
    try:
        if action.timeout_ms is None or action.lane == "instant":
            return await action.act(call)
        return await call.resources.clock.within(action.timeout_ms, action.act(call))
    except TimedOut:
        return ActionFailed("action_timed_out", f"gave no answer within {action.timeout_ms} ms", transient=True)
    except SecretUnavailable as unavailable:
        return ActionFailed("secret_unavailable", str(unavailable))
    except asyncio.CancelledError as error:
        if is_being_cancelled():
            raise
        return _raised(error, call)
    except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        # whoever closes us has the error raised in each of our callers too, and what we give then is dropped
        return _raised(error, call)


def _raised(error: BaseException, call: ActionCall) -> ActionFailed:
    """The failure, with where it was raised: redacted before it is cut, or half a secret would show."""
    stack = call.secrets.text(valid_text("".join(traceback.format_exception(error))))
    return msgspec.structs.replace(failure_from(error), stack=stack[-LONGEST_STACK:])


def _redacted(result: ActionResult, secrets: ProjectSecrets) -> ActionResult:
    """What leaves the executor, whichever kind of action it comes from."""
    if secrets is NO_SECRETS:
        return result
    if isinstance(result, ActionFailed):
        return msgspec.structs.replace(result, type=secrets.text(result.type), message=secrets.text(result.message))
    if isinstance(result, Suspended):
        return Suspended(result.until, secrets.text(result.sleep))
    return secrets.value(result)
