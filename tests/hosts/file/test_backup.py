"""Backups of a store in use: each is another store, with the state of one instant."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from jeton.actor.starts import NewRun
from jeton.hosts.sql.connection import Connection
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.file.connect import connect
from jeton.hosts.sqlite.tools.backup import BackedUp, Origin, backup
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.failure import Refused
from tests.hosts.library import chain, library
from tests.hosts.parked import FINISHED, PARKED, finish, park
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work


def meta(db: Connection, key: str) -> object:
    return db.execute("select value from meta where key = ?", (key,)).get


async def test_the_runs_of_a_copy_come_to_their_ends(path: Path, tmp_path: Path) -> None:
    host = await park(path)
    copied = backup(path, tmp_path / "copy.db", now=7)
    await host.close(0.0)
    assert (copied.runs, copied.origin.in_flight) == (len(PARKED), 2)
    assert verify(copied.path).ok
    assert await finish(copied.path) == FINISHED
    assert verify(copied.path).ok


async def test_a_copy_is_another_store_and_says_of_which_it_is_one(path: Path, tmp_path: Path) -> None:
    host = await park(path)
    copied = backup(path, tmp_path / "copy.db", now=7)
    await host.close(0.0)
    original, copy = connect(path), connect(copied.path)
    assert meta(original, "store") != meta(copy, "store") == copied.store
    kept = meta(copy, "origin")
    assert isinstance(kept, bytes)
    assert msgspec.json.decode(kept, type=Origin) == copied.origin
    assert copied.origin.store == meta(original, "store")
    assert meta(original, "origin") is None
    original.close()
    copy.close()


async def test_copies_made_under_load_are_whole_and_stop_nobody(path: Path, tmp_path: Path) -> None:
    host = await SqliteHost.open(path, workers=TrivialWorkers(work))
    version = await host.deploy(library(w=chain(10)), "w")

    async def run() -> None:
        for _ in range(20):
            started, _ = await host.start(NewRun("w", version, {"n": 0}))
            await host.ended(started)

    load = asyncio.gather(*(run() for _ in range(5)))
    copies: list[BackedUp] = []
    while not load.done() and len(copies) < 5:
        copies.append(await asyncio.to_thread(backup, path, tmp_path / f"copy-{len(copies)}.db", 7))
    await load
    await host.close()
    assert copies
    assert [verify(copy.path).ok for copy in copies] == [True] * len(copies)
    counts = [copy.origin.commits for copy in copies]
    assert counts == sorted(counts)


def refusal(source: Path, to: Path) -> str:
    with pytest.raises(Refused) as refused:
        backup(source, to, now=7)
    return refused.value.code


async def test_nothing_is_overwritten(path: Path, tmp_path: Path) -> None:
    await (await park(path)).close(0.0)
    (tmp_path / "copy.db").write_text("precious")
    assert refusal(path, tmp_path / "copy.db") == "file_exists"
    assert (tmp_path / "copy.db").read_text() == "precious"
    assert refusal(path, path) == "file_exists"


async def test_a_log_left_by_an_earlier_store_is_not_taken_for_the_copys_own(path: Path, tmp_path: Path) -> None:
    await (await park(path)).close(0.0)
    (tmp_path / "copy.db-wal").write_text("an old log")
    assert refusal(path, tmp_path / "copy.db") == "file_exists"
    assert not (tmp_path / "copy.db").exists()


async def test_a_copy_needs_a_store_and_a_folder_and_leaves_no_litter(path: Path, tmp_path: Path) -> None:
    assert refusal(path, tmp_path / "copy.db") == "no_store"
    await (await park(path)).close(0.0)
    assert refusal(path, tmp_path / "nowhere" / "copy.db") == "no_folder"
    backup(path, tmp_path / "copy.db", now=7)
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith((".", "copy.db-"))] == []
