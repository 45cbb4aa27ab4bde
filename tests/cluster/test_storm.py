"""Several workers on one PostgreSQL lose nothing and double nothing, whatever happens to them."""

import asyncio

import psycopg
import pytest

from jeton.actor.starts import NewRun
from jeton.hosts.postgres.connection import connect
from jeton.hosts.postgres.host import PgHost
from jeton.hosts.postgres.session import LOCKS
from jeton.hosts.postgres.shards import SHARDS, Worker, shard_of, share
from jeton.model.ids import RunId
from tests.cluster.storm import storm
from tests.conformance.hosts import postgres_store
from tests.hosts.library import HOLD, chain, library
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work


async def test_workers_are_killed_and_the_database_crashes() -> None:
    report = await storm(1, 42, frozen_s=0)
    assert report.problems == []
    assert (report.kills, report.crashes) == (4, 1)


@pytest.mark.long
async def test_a_worker_is_silent_for_longer_than_others_wait() -> None:
    report = await storm(2, 84)
    assert (report.problems, report.stops) == ([], 1)


async def test_workers_share_the_shards_and_hand_them_over() -> None:
    async with postgres_store() as url:
        first = await PgHost.open(url, workers=TrivialWorkers(work))
        version = await first.deploy(library(w=HOLD, c=chain(2)), "w")
        held = [(await first.start(NewRun("w", version, {}))).run for _ in range(8)]
        second = await PgHost.open(url, workers=TrivialWorkers(lambda _: {"n": 7}))
        try:
            async with asyncio.timeout(60):
                while len(_locks(url)) < SHARDS or min(map(len, _locks_by_session(url))) < SHARDS // 2:
                    await asyncio.sleep(0.1)
                moved = [run for run in held if second.works_on(run)]
                for run in moved:  # its task was given back, and is done by the other
                    assert (await first.ended(run)).output == {"n": 7}
                assert not any(first.works_on(run) for run in moved)
        finally:
            await second.close(0)
            await first.close(0)


async def test_a_late_commit_of_a_worker_that_was_given_up_is_refused() -> None:
    async with postgres_store() as url:
        late = connect(url)
        late.execute("select pg_advisory_lock(?::integer, ?::integer)", (LOCKS, 0))
        late.execute("begin")
        late.execute("update meta set value = 'late' where key = 'store'")
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("select pg_terminate_backend(%s)", (late.raw.info.backend_pid,))
            taken = "select pg_try_advisory_lock(%s, 0)"
            async with asyncio.timeout(30):
                while other.execute(taken, (LOCKS,)).fetchone() != (True,):
                    await asyncio.sleep(0.05)
            with pytest.raises(psycopg.OperationalError):
                late.execute("commit")
            found = other.execute("select value from meta where key = 'store'").fetchone()
        assert found != ("late",)
        late.close()


async def test_one_key_starts_one_run_wherever_it_is_given() -> None:
    async with postgres_store() as url:
        hosts = [await PgHost.open(url, workers=TrivialWorkers(work)) for _ in range(2)]
        hosts.append(await PgHost.open(url, workers=None, owner=False))
        try:
            version = await hosts[0].deploy(library(w=chain(2)), "w")
            started = await asyncio.gather(
                *[host.start(NewRun("w", version, {"n": 1}, key="k")) for host in hosts for _ in range(3)]
            )
            assert len({each.run for each in started}) == 1
            assert sum(each.new for each in started) == 1
            assert (await hosts[2].ended(started[0].run)).output == {"n": 3}
        finally:
            for host in reversed(hosts):
                await host.close(0)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 64, 70])
def test_shares_are_fair(count: int) -> None:
    workers = [Worker(f"w{number}", number, 0) for number in range(count)]
    sizes = [share(worker.id, workers, ()).wanted for worker in workers]
    assert sum(sizes) == SHARDS
    assert max(sizes) - min(sizes) <= 1
    everything = share("w0", workers, range(SHARDS))
    assert len(everything.released) == SHARDS - max(sizes)


def test_a_tree_is_in_one_shard() -> None:
    assert {shard_of(RunId(name)) for name in ("abc", "abc.1", "abc.1.2-2")} == {shard_of(RunId("abc"))}
    assert len({shard_of(RunId(f"r{number}")) for number in range(5_000)}) == SHARDS


def test_the_database_computes_the_same_shards() -> None:
    async def compare() -> None:
        async with postgres_store() as url:
            with psycopg.connect(url) as db:
                for name in ("abc", "abc.1", "ä", "x" * 40, "r.1.2"):
                    assert db.execute("select jeton_shard(%s)", (name,)).fetchone() == (shard_of(RunId(name)),)

    asyncio.run(compare())


def _locks(url: str) -> list[tuple[int, int]]:
    with psycopg.connect(url) as db:
        query = "select pid, objid::bigint from pg_locks where locktype = 'advisory' and classid = %s and objid < %s"
        query += " and database = (select oid from pg_database where datname = current_database())"
        return db.execute(query.encode(), (LOCKS, SHARDS)).fetchall()


def _locks_by_session(url: str) -> list[list[int]]:
    found: dict[int, list[int]] = {}
    for session, shard in _locks(url):
        found.setdefault(session, []).append(shard)
    return list(found.values())
