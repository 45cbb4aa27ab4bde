"""One attempt at an action: its handler, inside what the definition asks for.

A timeout, a circuit breaker and limits are each a function around the next one, composed when the definition is
compiled. An action that asks for none of them is its handler alone.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, ActionResult, failure_from
from jeton.executor.clock import TimedOut
from jeton.executor.limits.circuit_breakers import CircuitOpen
from jeton.executor.limits.limiter import ActionLimits
from jeton.executor.python.stack import stack_of
from jeton.executor.secrets import SecretUnavailable
from jeton.executor.workers.cancellation import is_being_cancelled
from jeton.model.definition.task import CircuitBreaker

FAILURES: Final = (Exception, SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError)
"""Whatever a function raises is a failure, even SystemExit."""


def as_it_is(handler: ActionHandler) -> ActionHandler:
    """The handler alone."""
    return handler


def surrounded(
    handler: ActionHandler,
    *,
    timed: bool,
    breaker: tuple[str, CircuitBreaker] | None,
    limits: ActionLimits | None,
    is_transient: Callable[[BaseException], bool],
) -> ActionHandler:
    """The handler inside what a definition asks for. A breaker comes with the name of its circuit."""
    if timed:
        handler = _with_timeout(handler)
    if breaker is not None:
        handler = _with_breaker(handler, *breaker, is_transient)
    return handler if limits is None else _with_limits(handler, limits)


def _with_timeout(handler: ActionHandler) -> ActionHandler:
    """An attempt that takes no longer than the timeout of its call."""

    async def attempt(call: ActionCall) -> ActionResult:
        if call.timeout_ms is None:
            return await handler(call)
        return await call.resources.clock.within(call.timeout_ms, handler(call))

    return attempt


def _with_breaker(
    handler: ActionHandler, name: str, breaker: CircuitBreaker, is_transient: Callable[[BaseException], bool]
) -> ActionHandler:
    """An attempt that is not made while its circuit is open. Any failure that is not transient is a response."""

    async def attempt(call: ActionCall) -> ActionResult:
        try:
            with call.resources.breakers.call(name, breaker, call.resources.clock) as permitted:
                try:
                    result = await handler(call)
                except FAILURES as error:
                    result = failed_attempt(error, is_transient, call)
                permitted.responded = not (isinstance(result, ActionFailed) and result.transient)
                return result
        except CircuitOpen as circuit:
            return ActionFailed("circuit_open", str(circuit), transient=True, retry_after_ms=circuit.wait_ms)

    return attempt


def _with_limits(handler: ActionHandler, limits: ActionLimits) -> ActionHandler:
    """An attempt that waits until its limits allow it. Waiting does not count towards its timeout."""

    async def attempt(call: ActionCall) -> ActionResult:
        async with call.resources.limiter.call(limits, call.call.run, call.resources.clock):
            return await handler(call)

    return attempt


def failed_attempt(
    error: BaseException, is_transient: Callable[[BaseException], bool], call: ActionCall
) -> ActionFailed:
    """The failure of an attempt that raised one of `FAILURES`. Raises it again if the attempt is being cancelled."""
    if isinstance(error, TimedOut):
        return ActionFailed("action_timed_out", f"did not finish within {call.timeout_ms} ms", transient=True)
    if isinstance(error, SecretUnavailable):
        return ActionFailed("secret_unavailable", str(error))
    if isinstance(error, asyncio.CancelledError) and is_being_cancelled():
        raise error
    failed = msgspec.structs.replace(failure_from(error, is_transient), stack=stack_of(error))
    # a coroutine that is being closed gets a GeneratorExit too, and must not wait any more
    return msgspec.structs.replace(failed, transient=False) if isinstance(error, GeneratorExit) else failed
