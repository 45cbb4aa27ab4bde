"""Whose time it is: each moment belongs to one place."""

import asyncio

from benchmarks.stopwatch import Stopwatch


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now

    def work(self, ns: int) -> None:
        self.now += ns


def test_what_a_place_calls_is_not_its_own_time() -> None:
    clock = Clock()
    watch = Stopwatch("rest", clock)
    inner = watch.watched("inner", lambda: clock.work(7))

    def calls() -> None:
        clock.work(1)
        inner()
        clock.work(2)

    outer = watch.watched("outer", calls)
    clock.work(10)
    outer()
    outer()
    clock.work(5)
    assert watch.read() == {"rest": 15, "outer": 6, "inner": 14}


def test_a_place_that_calls_itself_and_one_that_raises() -> None:
    clock = Clock()
    watch = Stopwatch("rest", clock)

    def fails(depth: int) -> None:
        clock.work(1)
        if depth == 0:
            raise ValueError
        watched(depth - 1)

    watched = watch.watched("place", fails)
    try:
        watched(2)
    except ValueError:
        clock.work(4)
    assert watch.read() == {"rest": 4, "place": 3}


def test_while_a_coroutine_waits_the_time_is_somebody_elses() -> None:
    clock = Clock()
    watch = Stopwatch("rest", clock)

    async def waits() -> str:
        clock.work(1)
        await asyncio.sleep(0)
        clock.work(2)
        try:
            await asyncio.wait_for(asyncio.Event().wait(), 0)
        except TimeoutError:
            clock.work(4)
        return "done"

    async def both() -> str:
        other = asyncio.ensure_future(asyncio.sleep(0))
        other.add_done_callback(lambda _: clock.work(100))
        return await watch.watched("place", waits)()  # type: ignore[no-any-return]

    assert asyncio.run(both()) == "done"
    assert watch.read() == {"rest": 100, "place": 7}


def test_the_cost_of_a_call_is_taken_off_both_sides() -> None:
    clock = Clock()
    watch = Stopwatch("rest", clock)
    inner = watch.watched("inner", lambda: clock.work(10))
    clock.work(100)
    for _ in range(3):
        inner()
    assert watch.read((2, 5)) == {"rest": 100 - 15, "inner": 30 - 6}


def test_after_a_reset_only_what_comes_counts() -> None:
    clock = Clock()
    watch = Stopwatch("rest", clock)
    inner = watch.watched("inner", lambda: clock.work(10))
    inner()
    watch.reset()
    clock.work(1)
    inner()
    assert watch.read((1, 0)) == {"rest": 1, "inner": 9}
