"""Attempts that share an asyncio task, because none of them waited: nothing of one shows in the next."""

import asyncio
from contextvars import ContextVar

from jeton.executor.python.action import action
from jeton.model.failure import TaskFailed
from tests.executor.given import task
from tests.executor.test_executor import host

AT_ONCE = 20
seen: ContextVar[int] = ContextVar("seen")


class Incomparable:
    """As some libraries' arrays are."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("neither yes nor no")

    __hash__ = None  # type: ignore[assignment]


odd: ContextVar[Incomparable] = ContextVar("odd")


@action
async def remember(n: int) -> dict[str, int | None]:
    """What an earlier one left behind, and something of its own."""
    before = seen.get(None)
    seen.set(n)
    odd.set(Incomparable())
    return {"before": before}


@action
async def ask_for_task(n: int) -> dict[str, bool]:
    """As a timeout of asyncio would."""
    async with asyncio.timeout(60):
        return {"in_a_task": asyncio.current_task() is not None}


@action
async def end_itself(n: int) -> None:
    """Leaves a cancellation behind, to be heard at the next wait."""
    current = asyncio.current_task()
    assert current is not None
    if n == 0:
        current.cancel()


async def test_a_context_variable_is_not_seen_by_the_next() -> None:
    async with host() as given:
        names = [given.start(task(remember.action), n, input={"n": n}) for n in range(AT_ONCE)]
        assert [await given.answer(name) for name in names] == [{"before": None}] * AT_ONCE


async def test_each_is_in_an_asyncio_task() -> None:
    async with host() as given:
        names = [given.start(task(ask_for_task.action), n, input={"n": n}) for n in range(AT_ONCE)]
        assert [await given.answer(name) for name in names] == [{"in_a_task": True}] * AT_ONCE


async def test_a_cancellation_one_leaves_behind_is_not_heard_by_the_next() -> None:
    async with host() as given:
        names = [given.start(task(end_itself.action), n, input={"n": n}) for n in range(AT_ONCE)]
        answers = [await given.answer(name) for name in names[1:]]
        assert not any(isinstance(answer, TaskFailed) for answer in answers)


async def test_one_that_waits_for_a_later_one_is_not_in_its_way() -> None:
    done = asyncio.Event()

    @action(name="wait_for_the_last")
    async def wait_for_the_last(n: int) -> dict[str, int]:
        if n == AT_ONCE - 1:
            done.set()
        await done.wait()
        return {"n": n}

    async with host(tasks=AT_ONCE) as given:
        names = [given.start(task(wait_for_the_last.action), n, input={"n": n}) for n in range(AT_ONCE)]
        assert [await given.answer(name) for name in names] == [{"n": n} for n in range(AT_ONCE)]


async def test_one_that_is_stopped_when_it_is_told_to_begin_gives_its_place_back() -> None:
    async with host(tasks=1) as given:
        for n in range(AT_ONCE):
            given.start(task(ask_for_task.action), n, input={"n": n})
        for n in range(0, AT_ONCE, 2):
            given.stop(n)
        await given.until(lambda: len(given.answers) == AT_ONCE // 2)
        name = given.start(task(ask_for_task.action), AT_ONCE, input={"n": 0})
        assert await given.answer(name) == {"in_a_task": True}
