"""Background loops of the owner. Clocks can be set, so none of them sleeps long before it looks again."""

import asyncio
import logging
from asyncio import Event
from collections.abc import Awaitable, Callable
from contextlib import suppress

LONGEST_SLEEP_S = 1.0
SHORTEST_SLEEP_S = 0.002

_log = logging.getLogger("jeton.store")


async def repeat(step: Callable[[], Awaitable[None]], what: str, retry_s: float) -> None:
    """Run a step again and again until cancelled. A failure is logged: one bad run must not stop the loop."""
    while True:
        try:
            await step()
        except Exception:
            _log.exception("%s failed, next try in %s s", what, retry_s)
            await asyncio.sleep(retry_s)


async def wait_for_event(event: Event, timeout_s: float | None) -> None:
    """Wait until the event is set, or for the timeout."""
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):  # wait_for may swallow a cancellation, which closing waits for
            await event.wait()
