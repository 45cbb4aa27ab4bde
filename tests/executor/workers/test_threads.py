"""ThreadPool that can be given up."""

import asyncio
import threading
from collections import Counter
from functools import partial

import pytest

from jeton.executor import ThreadPool
from jeton.executor.workers.thread_pool import MAX_THREADS_PER_SIZE


async def test_results_and_errors_come_back() -> None:
    threads = ThreadPool(2)
    assert await asyncio.gather(*(threads.run(partial(abs, -n)) for n in range(50))) == list(range(50))
    with pytest.raises(ZeroDivisionError):
        await threads.run(lambda: 1 // 0)
    threads.close()


async def test_no_more_than_its_size_work_at_a_time() -> None:
    threads, lock, seen = ThreadPool(3), threading.Lock(), Counter[str]()

    def work() -> None:
        with lock:
            seen["now"] += 1
            seen["most"] = max(seen["most"], seen["now"])
        with lock:
            seen["now"] -= 1

    await asyncio.gather(*(threads.run(work) for _ in range(200)))
    assert seen["most"] <= 3
    threads.close()


async def test_a_thread_that_hangs_is_replaced_up_to_a_bound() -> None:
    threads, release = ThreadPool(1), threading.Event()
    hanging = MAX_THREADS_PER_SIZE
    for _ in range(hanging):
        await give_up(threads, release)
    one_more = asyncio.create_task(threads.run(lambda: "done"))
    await asyncio.sleep(0)
    assert not one_more.done(), "every thread there may be hangs"
    release.set()
    assert await asyncio.wait_for(one_more, 5) == "done"
    threads.close()


async def give_up(threads: ThreadPool, release: threading.Event) -> None:
    began = threading.Event()

    def hang() -> None:
        began.set()
        release.wait(5)

    call = asyncio.create_task(threads.run(hang))
    while not began.is_set():
        await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])


async def test_what_was_cancelled_while_it_waited_is_never_run() -> None:
    threads, release, ran = ThreadPool(1), threading.Event(), list[str]()
    first = asyncio.create_task(threads.run(lambda: release.wait(5)))
    second = asyncio.create_task(threads.run(lambda: ran.append("second")))
    await asyncio.sleep(0)
    second.cancel()
    release.set()
    await asyncio.wait([first, second])
    await threads.run(lambda: ran.append("third"))
    assert ran == ["third"]
    threads.close()
