"""Closing ends, even if an alarm is due at that moment."""

import asyncio
from pathlib import Path

import jeton
from jeton.actor.starts import NewRun
from jeton.executor import Executor
from jeton.hosts.sqlite import SqliteHost
from jeton.model.definition.workflow import Library, Node, WaitTarget, Workflow

NAP = Workflow("nap", "a", {"a": Node(WaitTarget(seconds=0.05))})


async def test_a_store_closes_right_after_a_run_has_set_a_timer_that_is_due_soon(tmp_path: Path) -> None:
    host = await SqliteHost.open(tmp_path / "store.db", workers=Executor())
    version = await host.deploy(Library(workflows={"nap": NAP}), "nap")
    run, _ = await host.start(NewRun("nap", version, {}))
    await asyncio.wait_for(host.close(0), 10)
    host = await SqliteHost.open(tmp_path / "store.db", workers=Executor())
    row = await asyncio.wait_for(host.ended(run), 10)
    await asyncio.wait_for(host.close(0), 10)
    assert row.status == "completed"


RELEASED = asyncio.Event()


@jeton.action
async def waits_until_released() -> dict[str, int]:
    if not RELEASED.is_set():
        await asyncio.sleep(60)
    return {"n": 1}


async def test_clean_restarts_are_not_counted_as_lost_workers(tmp_path: Path) -> None:
    flow = jeton.Workflow("long")
    flow.node("work", action=waits_until_released, output={"output.n": "result.n"})
    RELEASED.clear()
    async with jeton.open(tmp_path / "store.db", grace_s=0) as engine:
        run = (await engine.start(flow, {})).id
    for _ in range(7):  # more than the five deliveries that a worker which dies may have
        async with jeton.open(tmp_path / "store.db", grace_s=0) as engine:
            await wait_until_executing(engine, run)
    RELEASED.set()
    async with jeton.open(tmp_path / "store.db") as engine:
        assert (await engine.ended(run, 20)).output == {"n": 1}


async def wait_until_executing(engine: jeton.Engine, run: str) -> None:
    """Until a worker has the task again."""
    async with asyncio.timeout(20):
        while [token.status for token in await engine.tokens(run)] not in (["executing"], ["dispatched"]):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
