"""Timers: many due at once, a clock that jumps, and a tree that is cancelled, on the SQLite host."""

import asyncio
from pathlib import Path

from jeton.actor.starts import NewRun
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.ids import RunId
from jeton.model.message import CancelRun
from jeton.model.state.run import TERMINAL
from tests.hosts.library import WAIT, chain, library
from tests.hosts.parked import BEGIN_MS, DAY_MS
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work
from tests.simulation.stories.tree import tree_workflows

MANY = 5000


async def test_a_start_made_while_thousands_of_timers_ring_does_not_wait_for_all_of_them(path: Path) -> None:
    now = BEGIN_MS
    host = await SqliteHost.open(path, workers=TrivialWorkers(work), durability="normal", clock=lambda: now)
    waits = await host.deploy(library(w=WAIT), "w")
    short = await host.deploy(library(c=chain(1)), "c")
    started = await asyncio.gather(*[host.start(NewRun("w", waits, {"s": 86_400})) for _ in range(MANY)])
    runs = [run for run, _ in started]
    await host.idle()
    now += DAY_MS
    draining = asyncio.create_task(host.recover())
    while len(await host.reads.rows(workflow="w", status="completed", limit=10)) < 10:
        await asyncio.sleep(0)
    begun, _ = await host.start(NewRun("c", short, {"n": 0}))
    await host.ended(begun)
    assert await host.reads.rows(workflow="w", status="waiting", limit=1), "it is done before the timers are"
    await draining
    await host.idle()
    rows = [await host.reads.row(run) for run in runs]
    assert all(row is not None and row.status == "completed" and row.ended_at == now for row in rows)
    for run in runs[::500]:
        (_, second, *_) = await host.reads.entries(run)
        assert sum(message.at == now for message in second.messages) == 1, "each rang once"
    await host.close(0.0)


async def test_a_clock_that_is_set_back_and_forth_loses_no_timer_and_rings_none_twice(path: Path) -> None:
    now = BEGIN_MS
    host = await SqliteHost.open(path, workers=TrivialWorkers(work), clock=lambda: now)
    version = await host.deploy(library(w=WAIT), "w")
    run, _ = await host.start(NewRun("w", version, {"s": 3600}))
    for jump in (-7_200_000, 3_600_000, 3_600_000, -1):  # an hour is what daylight saving would be worth
        now += jump
        await host.recover()
        await host.idle()
        row = await host.reads.row(run)
        assert row is not None
        assert row.status == "waiting", "not before its time, whatever the clock did in between"
    now += 3_600_001
    await host.recover()
    row = await host.ended(run)
    assert row.status == "completed"
    now += DAY_MS
    await host.recover()
    rang = [d for entry in await host.reads.entries(run) for d in entry.decisions if type(d).__name__ == "FinishNode"]
    assert len(rang) == 2, "the wait once, and the task behind it"
    await host.close(0.0)


async def test_a_tree_of_runs_is_cancelled_as_a_whole(path: Path) -> None:
    for moment in (3, 40):
        store = path.with_name(f"{moment}.db")
        workers = TrivialWorkers(work)
        host = await SqliteHost.open(store, workers=workers)
        levels = tree_workflows()
        for level in levels.values():
            level["nodes"]["work"]["task"] = "work"
        version = await host.deploy(library(**levels), "level1")
        root, _ = await host.start(NewRun("level1", version, {}))
        while len(workers.calls) < moment and await host.reads.rows(status="running"):
            await host.recover()
        await host.deliver(root, CancelRun(0, "enough"))
        await host.ended(root)
        await host.idle()
        await host.close(0.0)
        assert not workers.held
        reader = await SqliteHost.open(store, workers=None, owner=False)
        rows = await reader.reads.rows(limit=1000)
        assert [row.run for row in rows if row.status not in TERMINAL or row.wake is not None] == []
        assert RunId(root) in {row.run for row in rows}
        await reader.close(0.0)
        report = verify(store)
        assert report.problems == ()
