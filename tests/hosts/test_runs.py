"""Runs on the SQLite host without failures."""

import asyncio
from pathlib import Path

import pytest

from jeton.actor.journal import first_hash, next_hash
from jeton.actor.replay import replay
from jeton.actor.starts import NewRun
from jeton.apply.record import events_of
from jeton.hosts.sql.loop.alarms import RUNS_PER_STEP
from jeton.hosts.sql.loop.runs import Runs
from jeton.hosts.sqlite import SqliteHost, writer
from jeton.hosts.sqlite.file.connect import connect_reader
from jeton.hosts.sqlite.store import file_store
from jeton.model.event import TaskLog
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import CancelRun
from jeton.model.note import LogNote
from tests.hosts.conftest import OpenHost
from tests.hosts.library import HOLD, QUORUM, RETRY, WAIT, Definition, chain, library
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work

DAY_MS = 86_400_000


def runs_of(host: SqliteHost) -> Runs:
    assert host._owner is not None  # pyright: ignore[reportPrivateUsage]  (users have no access to the runs in memory)
    return host._owner.runs  # pyright: ignore[reportPrivateUsage]


async def started(host: SqliteHost, definition: Definition, input: Json = None) -> RunId:
    version = await host.deploy(library(w=definition), "w")
    run, _ = await host.start(NewRun("w", version, {} if input is None else input))
    return run


@pytest.mark.parametrize(
    ("definition", "given", "output"),
    [
        pytest.param(chain(5), {"n": 0}, {"n": 5}, id="a chain"),
        pytest.param(QUORUM, {"items": [1, 2, 3, 4, 5]}, {"votes": 3}, id="a fan-out with a quorum"),
        pytest.param(RETRY, {}, {"n": 3}, id="a task that succeeds at the third attempt"),
        pytest.param(WAIT, {"s": 0.02}, {}, id="a timer"),
    ],
)
async def test_a_run_comes_to_its_end(open_host: OpenHost, definition: Definition, given: Json, output: Json) -> None:
    host = await open_host()
    run = await started(host, definition, given)
    row = await asyncio.wait_for(host.ended(run), 10)
    assert (row.status, row.output) == ("completed", output)
    assert await host.reads.row(run) == row


async def test_what_tasks_say_rides_on_the_next_commit_and_causes_none(open_host: OpenHost) -> None:
    silent, talkative = await open_host(), LogNote("s", "log", "hello")
    run = await started(silent, chain(3), {"n": 0})
    commits = (await silent.ended(run)).entries
    await silent.close()
    host = await open_host(TrivialWorkers(work, says=(talkative, talkative)))
    run = await started(host, chain(3), {"n": 0})
    assert (await host.ended(run)).entries == commits
    facts = [event.fact for entry in await host.reads.entries(run) for event in events_of(run, entry)]
    assert [fact.node for fact in facts if isinstance(fact, TaskLog)] == ["n0", "n0", "n1", "n1", "n2", "n2"]


async def test_the_journal_folds_to_what_is_stored_and_its_chain_ends_in_the_row(
    open_host: OpenHost, path: Path
) -> None:
    host = await open_host()
    run = await started(host, QUORUM, {"items": list(range(50))})
    await host.ended(run)
    live = await host.reads.live(run)
    assert live is not None
    again = replay(live.state.head, await host.reads.entries(run))
    assert again.state.head == live.state.head
    assert again.state.state == live.state.state
    db = connect_reader(path)
    last = first_hash(run)
    for number, (stored, body) in enumerate(
        db.execute("select hash, body from journal where run = ? order by number", (run,))
    ):
        last = next_hash(last, body)
        assert (stored, (await host.reads.entries(run))[number].number) == (last, number)
    assert db.execute("select hash from runs where run = ?", (run,)).get == last
    db.close()


async def test_a_section_over_a_megabyte_lies_in_parts_and_shrinks_again(open_host: OpenHost, path: Path) -> None:
    host = await open_host(TrivialWorkers(lambda effect: {"n": "x" * 2_500_000 if effect.node == "n0" else "small"}))
    version = await host.deploy(library(w=chain(2)), "w")
    run, _ = await host.start(NewRun("w", version, {"n": 0}))
    first = [entry async for entry in host.reads.watch(run)]
    live = await host.reads.live(run)
    assert live is not None
    assert live.state.state == {"n": "small"}
    assert len(first) == 3
    db = connect_reader(path)
    assert db.execute("select count(*) from sections where run = ? and part > 0", (run,)).get == 0
    db.close()


async def test_one_run_per_workflow_and_key(open_host: OpenHost) -> None:
    host = await open_host()
    version = await host.deploy(library(w=chain(1)), "w")
    both = await asyncio.gather(*[host.start(NewRun("w", version, {"n": 0}, key="k")) for _ in range(5)])
    assert len({run for run, _ in both}) == 1
    assert sorted(is_new for _, is_new in both) == [False] * 4 + [True]
    newer = await host.deploy(library(w=chain(2)), "w")
    assert await host.start(NewRun("w", newer, {"n": 0}, key="k")) == (both[0][0], False)
    with pytest.raises(Refused, match="other input") as refused:
        await host.start(NewRun("w", version, {"n": 1}, key="k"))
    assert refused.value.code == "key_conflict"
    assert (await host.start(NewRun("w", version, {"n": 1}, key="another")))[1]


async def test_a_name_given_twice_is_one_run(open_host: OpenHost) -> None:
    host = await open_host()
    version = await host.deploy(library(w=chain(1)), "w")
    name = RunId("mine")
    both = await asyncio.gather(*[host.start(NewRun("w", version, {"n": 0}, run=name)) for _ in range(3)])
    assert sorted(both) == [(name, False), (name, False), (name, True)]
    await host.ended(name)
    assert await host.start(NewRun("w", version, {"n": 0}, run=name)) == (name, False)
    with pytest.raises(Refused) as refused:
        await host.start(NewRun("w", version, {"n": 5}, run=name))
    assert refused.value.code == "run_exists"


async def test_a_version_is_numbered_by_what_it_does_and_the_last_deployed_is_found(open_host: OpenHost) -> None:
    host = await open_host()
    one, two = library(w=chain(1)), library(w=chain(2))
    assert [await host.deploy(bundle, "w") for bundle in (one, two, one)] == [1, 2, 1]
    assert await host.reads.bundle("w") == (one, 1)
    assert await host.reads.bundle("w", 2) == (two, 2)
    assert await host.reads.bundle("w", 3) is None
    assert await host.reads.bundle("v") is None


async def test_parked_runs_are_not_in_memory(open_host: OpenHost) -> None:
    host = await open_host()
    version = await host.deploy(library(w=WAIT), "w")
    runs = [(await host.start(NewRun("w", version, {"s": 3600})))[0] for _ in range(20)]
    await host.idle()
    assert not runs_of(host).actors
    assert {row.status for row in await host.reads.rows(workflow="w")} == {"waiting"}
    await host.deliver(runs[0], CancelRun(0, "enough"))
    assert (await host.ended(runs[0])).status == "cancelled"
    assert not runs_of(host).actors


async def test_a_parked_run_wakes_when_its_time_has_come_and_not_before(open_host: OpenHost) -> None:
    now = 1_000_000
    workers = TrivialWorkers(work)
    host = await open_host(workers, clock=lambda: now)
    run = await started(host, WAIT, {"s": 86_400})
    await host.idle()
    now += DAY_MS - 1
    await host.idle()
    assert not workers.calls
    now += 1
    await host.idle()
    assert len(workers.calls) == 1
    assert (await host.ended(run)).status == "completed"


async def test_a_clock_set_back_neither_rings_nor_forgets(open_host: OpenHost) -> None:
    now = 10 * DAY_MS
    host = await open_host(clock=lambda: now)
    run = await started(host, WAIT, {"s": 60})
    await host.idle()
    now -= DAY_MS
    await host.idle()
    row = await host.reads.row(run)
    assert row is not None
    assert row.status == "waiting"
    now += DAY_MS + 60_000
    await host.idle()
    assert (await host.ended(run)).status == "completed"


async def test_many_alarms_at_once_are_rung_a_few_at_a_time_and_new_runs_are_served(open_host: OpenHost) -> None:
    now = 1_000_000
    host = await open_host(clock=lambda: now, durability="normal")
    version = await host.deploy(library(w=WAIT), "w")
    await asyncio.gather(*[host.start(NewRun("w", version, {"s": 60})) for _ in range(600)])
    quick = await host.deploy(library(q=chain(1)), "q")
    now += 60_000
    ringing = asyncio.create_task(host.idle())
    await asyncio.sleep(0)
    run, _ = await host.start(NewRun("q", quick, {"n": 0}))
    await host.ended(run)
    assert len(runs_of(host).actors) <= 3 * RUNS_PER_STEP
    assert await host.reads.rows(workflow="w", status="waiting")
    await ringing
    assert len(await host.reads.rows(workflow="w", status="completed", limit=1000)) == 600


async def test_the_log_shrinks_when_a_long_reader_has_left(
    open_host: OpenHost, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "TRUNCATE_AFTER_S", 0.0)
    monkeypatch.setattr(writer, "CHECKPOINT_PAGES", 20)
    monkeypatch.setattr(writer, "WAL_LIMIT_BYTES", 100_000)
    monkeypatch.setattr(writer, "CHECKPOINT_BUSY_MS", 1)
    host = await open_host()
    version = await host.deploy(library(w=chain(3)), "w")
    log = path.with_name("store.db-wal")
    with file_store(path).snapshot() as db:
        list(db.execute("select count(*) from runs"))
        for _ in range(60):
            run, _ = await host.start(NewRun("w", version, {"n": 0}))
            await host.ended(run)
        assert log.stat().st_size > 100_000
    async with asyncio.timeout(10):
        while log.stat().st_size:  # the writer truncates it when it is idle
            await asyncio.sleep(0.02)


async def test_an_alarm_that_the_state_knows_nothing_of_is_put_right(open_host: OpenHost, path: Path) -> None:
    host = await open_host()
    run = await started(host, WAIT, {"s": 3600})
    await host.idle()
    await _as_writer(host, f"update runs set wake = 1 where run = '{run}'")
    await host.idle()
    row = await host.reads.row(run)
    assert row is not None
    assert row.wake is not None
    assert row.wake > 1


async def test_a_damaged_run_does_not_stop_the_others(open_host: OpenHost) -> None:
    host = await open_host()
    version = await host.deploy(library(w=WAIT), "w")
    bad, good = [(await host.start(NewRun("w", version, {"s": 3600})))[0] for _ in range(2)]
    await host.idle()
    await _as_writer(host, f"update runs set small = x'7b' where run = '{bad}'")
    await _as_writer(host, "update runs set wake = 1")
    await host.idle()
    with pytest.raises(Refused, match="cannot go on"):
        await host.deliver(bad, CancelRun(0))
    with pytest.raises(Refused, match="cannot go on"):
        await host.ended(bad)
    await host.deliver(good, CancelRun(0))
    assert (await host.ended(good)).status == "cancelled"


async def test_watching_gives_stored_entries_then_new_ones_and_ends_with_the_run(open_host: OpenHost) -> None:
    workers = TrivialWorkers(work)
    host = await open_host(workers)
    run = await started(host, HOLD)
    seen: list[int] = []
    first = asyncio.Event()

    async def watch() -> None:
        async for entry in host.reads.watch(run):
            seen.append(entry.number)
            first.set()

    watching = asyncio.create_task(watch())
    await first.wait()
    assert seen == [0]
    workers.held.popitem()[1]({"n": 1})
    await asyncio.wait_for(watching, 10)
    assert seen == [0, 1]
    assert [entry.number async for entry in host.reads.watch(run, after=0)] == [1]


async def test_a_result_that_is_no_json_fails_the_task_and_not_the_host(open_host: OpenHost) -> None:
    host = await open_host(TrivialWorkers(lambda effect: {"n": "\ud800"}))
    run = await started(host, chain(1), {"n": 0})
    row = await host.ended(run)
    assert row.status == "failed"
    assert row.error is not None
    assert "no JSON" in row.error.message


async def test_pages_of_runs(open_host: OpenHost) -> None:
    host = await open_host()
    version = await host.deploy(library(w=chain(1)), "w")
    runs = [(await host.start(NewRun("w", version, {"n": i})))[0] for i in range(7)]
    await host.idle()
    first = await host.reads.rows(workflow="w", limit=4)
    rest = await host.reads.rows(workflow="w", status="completed", after=first[-1].run)
    assert {row.run for row in (*first, *rest)} == set(runs)
    assert (len(first), len(rest)) == (4, 3)
    assert await host.reads.rows(workflow="v") == await host.reads.rows(status="failed") == []


async def test_closing_lets_results_in_and_leaves_the_rest_for_the_next_owner(open_host: OpenHost) -> None:
    host = await open_host()
    version = await host.deploy(library(w=chain(200)), "w")
    run, _ = await host.start(NewRun("w", version, {"n": 0}))
    await host.close(0.0)
    with pytest.raises(Refused) as refused:
        await host.start(NewRun("w", version, {"n": 0}))
    assert refused.value.code == "store_closed"
    again = await open_host()
    assert (await again.ended(run)).output == {"n": 200}


async def _as_writer(host: SqliteHost, sql: str) -> None:
    assert host._owner is not None  # pyright: ignore[reportPrivateUsage]
    await host._owner._writer.transact(lambda db: db.execute(sql) and None)  # pyright: ignore[reportPrivateUsage]
