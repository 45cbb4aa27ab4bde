"""An engine that is not opened, or a call of it that is not awaited: the error says what to write."""

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.testing import open_simulated

WORKFLOW = {"initial_node": "a", "nodes": {"a": {"output_mapping": {"output.n": 1}}}}
LIBRARY: dict[str, object] = {"workflows": {"w": WORKFLOW}}


@pytest.fixture
def opening(tmp_path: Path) -> Any:
    return jeton.open(tmp_path / "s.db")


async def test_open_without_async_with(opening: Any) -> None:
    with pytest.raises(AttributeError, match=r"no 'start': write 'async with jeton\.open\(…\) as engine:'"):
        await opening.start("w")


async def test_open_with_await(opening: Any) -> None:
    with pytest.raises(TypeError, match=r"cannot be awaited: write 'async with jeton\.open\(…\) as engine:'"):
        await opening


def test_open_with_a_plain_with(opening: Any) -> None:
    with pytest.raises(TypeError, match=r"needs 'async with'.*'with jeton\.open_sync\(…\)'"), opening:
        pass


async def test_a_simulated_engine_without_async_with() -> None:
    opening: Any = open_simulated()
    with pytest.raises(AttributeError, match=r"write 'async with open_simulated\(…\) as engine:'"):
        await opening.start("w")


def test_open_sync_without_with(tmp_path: Path) -> None:
    opening: Any = jeton.open_sync(tmp_path / "s.db")
    with pytest.raises(AttributeError, match=r"no 'start': write 'with jeton\.open_sync\(…\) as engine:'"):
        opening.start("w")


async def test_open_sync_in_a_running_loop(tmp_path: Path) -> None:
    with (
        pytest.raises(jeton.Refused, match=r"write 'async with jeton\.open\(…\) as engine:'") as refused,
        jeton.open_sync(tmp_path / "s.db"),
    ):
        pass
    assert refused.value.code == "running_loop"
    assert not (tmp_path / "s.db").exists()


async def test_a_call_that_is_not_awaited(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "s.db") as engine:
        await engine.deploy(LIBRARY)
        start: Any = engine.start("w")
        with pytest.raises(AttributeError, match=r"no 'result': write 'await engine\.start\(…\)'"):
            start.result()
        run = await engine.start("w")
        result: Any = run.result()
        with pytest.raises(AttributeError, match=r"no 'output': write 'await run\.result\(…\)'"):
            print(result.output)
    del start, result
    gc.collect()  # Python would warn here of coroutines that were never awaited


async def test_a_call_is_a_coroutine_for_asyncio(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "s.db") as engine:
        await engine.deploy(LIBRARY)
        task = asyncio.create_task(engine.start("w"))
        assert "start" in repr(task)
        first, second = await asyncio.gather(task, engine.start("w"))
        async with asyncio.timeout(60):
            records = [await asyncio.wait_for(run.result(), 60) for run in (first, second)]
    assert [record.output for record in records] == [{"n": 1}, {"n": 1}]


async def test_a_call_can_be_cancelled_while_it_waits(tmp_path: Path) -> None:
    waiting = {"workflows": {"w": {"initial_node": "a", "nodes": {"a": {"wait": {"signal": "go"}}}}}}
    async with jeton.open(tmp_path / "s.db") as engine:
        await engine.deploy(waiting)
        run = await engine.start("w")
        task = asyncio.create_task(run.result())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
