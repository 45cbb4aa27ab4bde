"""A warning about an async function that blocks the event loop."""

import asyncio
import logging
import time
from pathlib import Path

import pytest

import jeton
from jeton.executor.python.blocking import LoopWatch
from tests.executor.actions.given_action import Bench, succeeded

LONGEST_S = 60.0


def block_until_warned(caplog: pytest.LogCaptureFixture, count: int) -> None:
    """Block this thread until there are so many warnings."""
    give_up = time.monotonic() + LONGEST_S
    while len(caplog.records) < count and time.monotonic() < give_up:
        time.sleep(0.01)


@pytest.fixture
def watched(tmp_path: Path) -> Bench:
    return Bench(tmp_path, watch=LoopWatch(0.05))


async def test_a_function_that_blocks_the_loop_is_named(watched: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "jeton.executor")

    @jeton.action(name="blocks_the_loop")
    async def blocks_the_loop() -> int:
        block_until_warned(caplog, 1)
        return 1

    for _ in range(2):  # the second call finds the warning there, and is not waited for
        assert succeeded(await watched.call(blocks_the_loop.action)) == {"result": 1}
    (record,) = caplog.records
    message = record.getMessage()
    assert message.startswith("blocks_the_loop blocks the event loop for more than 0.05 s, at line ")
    assert "of test_blocking.py" in message
    assert "write it with 'def' instead of 'async def'" in message
    assert "asyncio.to_thread" in message
    await watched.close()


async def test_a_function_is_reported_once_and_another_too(watched: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "jeton.executor")

    @jeton.action(name="blocks_first")
    async def blocks_first() -> None:
        block_until_warned(caplog, 1)

    @jeton.node(name="blocks_then")
    async def blocks_then(step: jeton.Steps) -> None:
        time.sleep(0.3)  # long enough for several warnings about the first
        await step.run("more", lambda: block_until_warned(caplog, 2))

    for action in (blocks_first, blocks_first, blocks_then, blocks_then):
        await watched.call(action.action)
    assert [record.getMessage().split()[0] for record in caplog.records] == ["blocks_first", "blocks_then"]
    await watched.close()


async def test_functions_that_wait_or_run_in_threads_are_not_reported(
    watched: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    @jeton.action(name="waits_long")
    async def waits_long() -> None:
        await asyncio.sleep(0.3)

    @jeton.action(name="blocks_a_thread")
    def blocks_a_thread() -> None:
        time.sleep(0.3)

    await watched.call(waits_long.action)
    await watched.call(blocks_a_thread.action)
    assert not caplog.records
    await watched.close()
