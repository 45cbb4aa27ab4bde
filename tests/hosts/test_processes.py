"""A store whose processes die, and one that several processes open."""

import asyncio
import os
import random
import time
from pathlib import Path

import pytest

from jeton.actor.starts import NewRun
from jeton.hosts.sqlite import SqliteHost
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import CancelRun
from tests.hosts.child import NODES
from tests.hosts.conftest import OpenHost
from tests.hosts.library import HOLD, chain, library
from tests.hosts.process import child, kill, line
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work


async def test_what_a_killed_owner_acknowledged_is_there_and_comes_to_its_end(open_host: OpenHost, path: Path) -> None:
    process = child("own", str(path), "50")
    said = [line(process) for _ in range(20)]
    said += kill(process)
    acknowledged = {RunId(words[1]) for words in said if words[:1] == ["started"] and len(words) == 3}
    assert acknowledged
    host = await open_host()
    await asyncio.wait_for(host.idle(), 60)
    rows = {row.run: row for row in await host.reads.rows()}
    assert acknowledged <= rows.keys()
    assert {(row.status, str(row.output)) for row in rows.values()} == {("completed", str({"n": NODES}))}


@pytest.mark.long
async def test_an_owner_killed_again_and_again_still_finishes(open_host: OpenHost, path: Path) -> None:
    chance = random.Random(7)
    for _ in range(4):
        process = child("own", str(path), "10")
        line(process)
        await asyncio.sleep(chance.random() / 4)
        kill(process)
    host = await open_host()
    await asyncio.wait_for(host.idle(), 60)
    assert [row.status for row in await host.reads.rows()] == ["completed"] * 10


async def test_a_task_that_kills_its_owner_each_time_ends_as_a_failure(open_host: OpenHost, path: Path) -> None:
    process = child("hold", str(path))
    run = RunId(line(process)[1])
    kill(process)
    for _ in range(4):  # each owner gets the task again, and dies with it
        process = child("resume", str(path))
        assert line(process) == ["working", run]
        kill(process)
    host = await open_host()
    row = await asyncio.wait_for(host.ended(run), 30)
    assert row.status == "failed"
    assert row.error is not None
    assert row.error.type == "worker_lost"


async def test_a_second_owner_is_refused_and_told_who_is_the_first(path: Path) -> None:
    process = child("hold", str(path))
    line(process)
    try:
        with pytest.raises(Refused, match=f"process {process.pid} on") as refused:
            await SqliteHost.open(path, workers=None)
        assert refused.value.code == "store_owned"
    finally:
        kill(process)


async def test_a_second_owner_in_the_same_process_is_refused_too(open_host: OpenHost, path: Path) -> None:
    await open_host()
    with pytest.raises(Refused) as refused:
        await SqliteHost.open(path, workers=None)
    assert refused.value.code == "store_owned"


async def test_a_forked_child_does_not_keep_the_lock(open_host: OpenHost, path: Path) -> None:
    host = await open_host()
    ready, go = os.pipe()
    if (forked := os.fork()) == 0:
        os.close(go)
        os.read(ready, 1)  # until the parent closes its end
        os._exit(0)
    os.close(ready)
    await host.close()
    again = await open_host()
    assert await again.reads.rows() == []
    os.close(go)
    os.waitpid(forked, 0)


async def test_a_visitor_cancels_a_run_beside_its_owner(path: Path) -> None:
    owner = child("hold", str(path))
    run = line(owner)[1]
    began = time.monotonic()
    visitor = child("cancel", str(path), run)
    assert line(visitor) == ["told", run]
    assert line(owner) == ["ended", run, "cancelled"]
    assert line(visitor) == ["ended", run, "cancelled"]
    assert time.monotonic() - began < 10
    kill(owner)
    kill(visitor)


async def test_a_visitors_message_waits_for_an_owner(open_host: OpenHost, path: Path) -> None:
    process = child("hold", str(path))
    run = RunId(line(process)[1])
    kill(process)
    visitor = await open_host(owner=False)
    await visitor.deliver(run, CancelRun(0, "later"))
    with pytest.raises(Refused) as refused:
        await visitor.start(NewRun("w", 1, {}))
    assert refused.value.code == "not_owner"
    host = await open_host()
    await host.idle()
    assert (await visitor.ended(run)).status == "cancelled"


async def test_a_visitor_watches_a_run_to_its_end(open_host: OpenHost, path: Path) -> None:
    workers = TrivialWorkers(work)
    host = await open_host(workers)
    version = await host.deploy(library(w=HOLD), "w")
    run, _ = await host.start(NewRun("w", version, {}))
    visitor = await open_host(owner=False)
    seen: list[int] = []
    async for entry in visitor.reads.watch(run):
        seen.append(entry.number)
        if workers.held:
            workers.held.popitem()[1]({"n": 1})
    assert seen == [0, 1]


async def test_a_run_whose_function_is_missing_is_parked_and_not_failed(open_host: OpenHost, path: Path) -> None:
    process = child("hold", str(path))
    run = RunId(line(process)[1])
    kill(process)
    lacking = TrivialWorkers(lambda effect: {"n": 1}, lacking=frozenset({"act"}))
    host = await open_host(lacking)
    for _ in range(10):
        await host.idle()
    assert host.needs_app == {run: "act"}
    row = await host.reads.row(run)
    assert row is not None
    assert (row.status, row.entries) == ("running", 1)
    lacking.lacking = frozenset()
    await host.idle()
    assert host.needs_app == {}
    assert (await host.ended(run)).status == "completed"


async def test_nobody_sees_a_locked_database(open_host: OpenHost, path: Path) -> None:
    """Fifty users at once, readers, and one who reads without end."""
    host = await open_host()
    version = await host.deploy(library(w=chain(3)), "w")
    visitors = [await open_host(owner=False) for _ in range(10)]
    long_reader = visitors[0]._store.snapshot()  # pyright: ignore[reportPrivateUsage]
    with long_reader as db:
        db.execute("select count(*) from runs")

        async def use(number: int) -> None:
            visitor = visitors[number % 10]
            for turn in range(4):
                run, _ = await host.start(NewRun("w", version, {"n": 0}, key=f"{number}/{turn}"))
                await visitor.deliver(run, CancelRun(0))
                assert (await visitor.ended(run)).status in ("completed", "cancelled")
                await visitor.reads.rows(workflow="w")

        await asyncio.wait_for(asyncio.gather(*[use(number) for number in range(50)]), 120)
    await host.idle()
    assert len(await host.reads.rows(limit=1000)) == 200
