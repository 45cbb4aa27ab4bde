"""A run whose state cannot be stored."""

import asyncio
from pathlib import Path

from jeton.actor.starts import NewRun
from jeton.executor import Executor
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.definition.workflow import Library, LoopConfig, Node, Transition, Workflow

DEEPER = Workflow(
    "deeper",
    "n",
    {"n": Node(output_mapping={"state.p": "{'k': has(state.p) ? state.p : {}}"}), "end": Node()},
    (Transition("n", "n", loop_config=LoopConfig(3000)), Transition("n", "end", priority=2)),
)


async def test_it_fails_with_the_reason_and_the_store_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    host = await SqliteHost.open(path, workers=Executor())
    version = await host.deploy(Library(workflows={"deeper": DEEPER}), "deeper")
    run, _ = await host.start(NewRun("deeper", version, {"x": 1}))
    row = await asyncio.wait_for(host.ended(run), 20)
    await host.close(0)
    assert row.status == "failed"
    assert row.error is not None
    assert row.error.type == "cannot_be_stored"
    assert verify(path).ok
