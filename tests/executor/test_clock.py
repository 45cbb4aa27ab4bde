"""Two clocks that keep the same promises."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from jeton.executor import Clock, LoopClock, TimedOut, VirtualClock

Value = TypeVar("Value")

CLOCKS = [pytest.param(LoopClock, id="the loop's"), pytest.param(VirtualClock, id="virtual")]


async def outcome(work: Coroutine[Any, Any, Value]) -> Value | str:
    try:
        return await work
    except TimedOut:
        return "timed out"


async def nested(clock: Clock, outer_ms: int, inner_ms: int, sleep_ms: int) -> str:
    """Who notices first."""

    async def inner() -> str:
        try:
            await clock.within(inner_ms, clock.sleep(sleep_ms))
        except TimedOut:
            return "inner"
        return "nobody"

    return str(await outcome(clock.within(outer_ms, inner())))


@pytest.mark.parametrize("kind", CLOCKS)
@pytest.mark.parametrize(
    ("outer", "inner", "sleep", "then"),
    [
        pytest.param(60_000, 5, 30_000, "inner", id="the inner limit"),
        pytest.param(5, 60_000, 30_000, "timed out", id="the outer limit passes through the inner one"),
        pytest.param(60_000, 60_000, 1, "nobody", id="in time"),
    ],
)
async def test_limits_nest(kind: type[LoopClock | VirtualClock], outer: int, inner: int, sleep: int, then: str) -> None:
    assert await nested(kind(), outer, inner, sleep) == then


@pytest.mark.parametrize("kind", CLOCKS)
async def test_work_that_never_waits_has_all_the_time_in_the_world(kind: type[LoopClock | VirtualClock]) -> None:
    async def instant() -> str:
        return "done"

    assert await kind().within(0, instant()) == "done"


@pytest.mark.parametrize("kind", CLOCKS)
async def test_an_error_of_the_work_is_its_own(kind: type[LoopClock | VirtualClock]) -> None:
    clock = kind()

    async def fails() -> None:
        await clock.sleep(0)
        raise TimeoutError("not ours")

    with pytest.raises(TimeoutError, match="not ours"):
        await clock.within(60_000, fails())


async def test_work_on_the_loop_is_cleaned_up_when_its_time_is_over() -> None:
    ended: list[str] = []

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append("cleaned up")

    assert await outcome(LoopClock().within(1, endless())) == "timed out"
    assert ended == ["cleaned up"]


async def test_what_will_not_be_interrupted_comes_too_late() -> None:
    async def stubborn() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "done after all"
        return ""

    assert await outcome(LoopClock().within(1, stubborn())) == "timed out"


async def test_whoever_is_cancelled_passes_it_on() -> None:
    async def endless() -> None:
        await asyncio.Event().wait()

    waiting = asyncio.create_task(LoopClock().within(60_000, endless()))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_virtual_time_passes_by_sleeping_only() -> None:
    clock = VirtualClock(100)
    await clock.sleep(50)
    assert await outcome(clock.within(30, clock.sleep(40))) == "timed out"
    assert clock.now() == 180
