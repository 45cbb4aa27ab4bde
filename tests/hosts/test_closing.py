"""Closing ends, even if an alarm is due at that moment."""

import asyncio
from pathlib import Path

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
