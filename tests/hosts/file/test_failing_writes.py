"""A write that fails: what callers get, and what is stored afterwards."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

from jeton.actor.starts import NewRun
from jeton.hosts.sql.rows import Write
from jeton.hosts.sqlite import SqliteHost, writer
from jeton.hosts.sqlite.file.connect import FileConnection as Connection
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from tests.hosts.conftest import OpenHost
from tests.hosts.library import HOLD, chain, library
from tests.hosts.process import ROOT, child


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(apsw.IOError, "store_failed", id="an I/O error"),
        pytest.param(apsw.FullError, "store_full", id="a full disk"),
        pytest.param(apsw.CorruptError, "store_damaged", id="a damaged page"),
    ],
)
async def test_a_failed_write_is_final_until_the_store_is_opened_again(
    open_host: OpenHost, monkeypatch: pytest.MonkeyPatch, error: type[apsw.Error], code: str
) -> None:
    host = await open_host()
    version = await host.deploy(library(w=HOLD), "w")
    kept, _ = await host.start(NewRun("w", version, {}))
    waiting = asyncio.create_task(host.ended(kept))
    watching = asyncio.create_task(_watched(host, kept))
    await asyncio.sleep(0)

    def fail(place: str) -> None:
        if place == "before_commit":
            raise error("injected")

    monkeypatch.setattr(writer, "hit", fail)
    for attempt in (
        host.start(NewRun("w", version, {})),
        host.start(NewRun("w", version, {})),
        waiting,
        watching,
        host.idle(),
    ):
        with pytest.raises(Refused) as refused:
            await asyncio.wait_for(attempt, 10)
        assert refused.value.code == code
    monkeypatch.undo()
    assert [row.run for row in await host.reads.rows()] == [kept]
    await host.close()
    again = await open_host()
    assert [row.run for row in await again.reads.rows()] == [kept]
    assert (await again.start(NewRun("w", version, {})))[1]


async def _watched(host: SqliteHost, run: RunId) -> list[int]:
    return [entry.number async for entry in host.reads.watch(run)]


async def test_a_store_that_may_not_grow_refuses_new_runs_and_keeps_the_old(open_host: OpenHost) -> None:
    host = await open_host()
    version = await host.deploy(library(w=chain(2)), "w")
    owner = host._owner  # pyright: ignore[reportPrivateUsage]
    assert owner is not None

    def limit(db: Connection) -> None:
        db.pragma("max_page_count", db.pragma("page_count") + 40)

    await owner._writer.transact(limit)  # pyright: ignore[reportPrivateUsage]
    acknowledged: list[RunId] = []

    async def start_for_ever() -> None:
        while True:
            acknowledged.append((await host.start(NewRun("w", version, {"n": 0, "pad": "x" * 500})))[0])

    with pytest.raises(Refused, match="disk is full") as refused:
        await start_for_ever()
    assert refused.value.code == "store_full"
    assert acknowledged
    await host.close()
    again = await open_host()
    await again.idle()
    assert set(acknowledged) <= {row.run for row in await again.reads.rows(status="completed", limit=1000)}


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs a file system of its own")
def test_a_full_disk_is_reported_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    script = (
        f"mount -t tmpfs -o size=1200k none {tmp_path} || exit 77;"
        f" {sys.executable} -m tests.hosts.child fill {tmp_path}/store.db"
        f" && rm {tmp_path}/ballast && {sys.executable} -m tests.hosts.child count {tmp_path}/store.db"
    )
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("no file system of its own to be had")
    said = [line.split() for line in done.stdout.splitlines()]
    assert ["refused", "store_full"] in said, done.stderr
    started = {words[1] for words in said if words[0] == "started"}
    assert started
    assert started <= {words[1] for words in said if words[0] == "found"}


async def test_one_commit_that_cannot_be_written_does_not_stop_the_others(open_host: OpenHost) -> None:
    class Picky:
        """Refuses one run."""

        def write(self, db: Connection, writes: Sequence[Write]) -> None:
            if any(write.actor.live.state.input == {"n": 13} for write in writes):
                raise ValueError("thirteen")

    host = await open_host(mirrors=[Picky()])
    version = await host.deploy(library(w=chain(1)), "w")
    starts = [host.start(NewRun("w", version, {"n": number})) for number in (1, 13, 2)]
    done = await asyncio.gather(*starts, return_exceptions=True)
    assert [isinstance(answer, Refused) for answer in done] == [False, True, False]
    await host.idle()
    assert [row.status for row in await host.reads.rows()] == ["completed", "completed"]


def test_a_failpoint_kills_the_process_at_the_place_and_time_it_names(path: Path) -> None:
    process = child("own", str(path), "3", env={"JETON_FAILPOINT": "before_commit:3"})
    assert process.wait(30) == -9
    assert process.stdout is not None
    process.stdout.close()
