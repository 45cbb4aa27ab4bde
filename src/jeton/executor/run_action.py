"""One action as its step sees it. This is the infrastructure retry: the same call again, unseen by the task."""

import asyncio
import logging
import traceback
from zlib import crc32

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, Resources, failed_by
from jeton.executor.call import Call, TaskCall
from jeton.executor.clock import TimedOut
from jeton.executor.compile_task import ReadyAction
from jeton.executor.secrets import NO_SECRETS, Secrets, SecretUnavailable
from jeton.model.json import Json, JsonObject
from jeton.model.task import RetryPolicy

_log = logging.getLogger("jeton.executor")


async def run_action(
    action: ReadyAction,
    given: Json,
    state: JsonObject,
    output: JsonObject,
    task: TaskCall,
    step: str,
    resources: Resources,
) -> Json | ActionFailed:
    """The action's result, or its last failure. Only what is transient is tried again, and only as the policy says."""
    if action.input_validator is not None:
        flaw = action.input_validator.flaw(given, "input")
        if flaw is not None:
            return ActionFailed("input_invalid", flaw)
    secrets = resources.secrets.of(action.settings)
    key, attempt = task.step_key(step), 1
    while True:
        call = Call(task.run, task.token, task.node, task.attempt, step, attempt, key)
        attempted = ActionCall(given, state, output, call, resources, action.settings, secrets)
        result = _redacted(await _attempt(action, attempted), secrets)
        if not isinstance(result, ActionFailed):
            break
        if not result.transient or attempt >= action.policy.max_attempts:
            return result
        delay = retry_delay_ms(action.policy, attempt, key, result.retry_after_ms)
        if delay > 0:
            await resources.clock.sleep(delay)
        attempt += 1
    flaw = None if action.output_validator is None else action.output_validator.flaw(result, "result")
    return result if flaw is None else ActionFailed("output_invalid", flaw)


def retry_delay_ms(policy: RetryPolicy, attempt: int, key: str, retry_after_ms: int | None = None) -> int:
    """The delay after the attempt that failed, capped, with up to a tenth on top; longer if the other side asks for it.

    The extra spreads calls that failed together. It is derived from who waits, so that a run can be repeated.
    """
    match policy.backoff:
        case "none":
            delay = policy.initial_delay_ms
        case "linear":
            delay = policy.initial_delay_ms * attempt
        case "exponential":
            delay = policy.initial_delay_ms * 2 ** min(attempt - 1, 40)
    delay += crc32(f"{key}:{attempt}".encode()) % (delay // 10 + 1)
    if policy.max_delay_ms is not None:
        delay = min(delay, policy.max_delay_ms)
    return max(delay, retry_after_ms or 0)


async def _attempt(action: ReadyAction, call: ActionCall) -> Json | ActionFailed:
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
        if _is_being_stopped():
            raise
        return failed_by(error)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        if _log.isEnabledFor(logging.DEBUG):
            trace = call.secrets.text("".join(traceback.format_exception(error)))
            _log.debug("step '%s' of node '%s' raised\n%s", call.call.step, call.call.node, trace)
        return failed_by(error)


def _redacted(result: Json | ActionFailed, secrets: Secrets) -> Json | ActionFailed:
    """What leaves the executor, whichever kind of action it comes from."""
    if secrets is NO_SECRETS:
        return result
    if isinstance(result, ActionFailed):
        return msgspec.structs.replace(result, type=secrets.text(result.type), message=secrets.text(result.message))
    return secrets.value(result)


def _is_being_stopped() -> bool:
    """Whether the cancellation is ours, or comes from something the function waited for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
