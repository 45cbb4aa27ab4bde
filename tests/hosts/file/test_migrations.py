"""Stores of every released schema can be opened, and their runs go on; no store is ever half migrated."""

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jeton.executor.memory import MemoryScope, NewMemory, Query
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.file.connect import connect
from jeton.hosts.sqlite.file.migrate import SCHEMA_VERSION, prepare
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.failure import Refused
from tests.hosts.golden.make import golden
from tests.hosts.parked import FINISHED, PARKED, finish, park
from tests.hosts.process import ROOT

VERSIONS = range(1, SCHEMA_VERSION + 1)


@pytest.fixture(params=VERSIONS, ids=lambda version: f"schema {version}")
def released(request: pytest.FixtureRequest, path: Path) -> Path:
    """A copy of the golden store of a schema."""
    path.write_bytes(gzip.decompress(golden(request.param).read_bytes()))
    return path


async def test_the_runs_of_a_golden_store_are_at_their_waits(released: Path) -> None:
    host = await SqliteHost.open(released, workers=None, clock=lambda: 0)
    found = {row.run: row.status for row in await host.reads.rows()}
    await host.close(0.0)
    assert found == PARKED


async def test_the_runs_of_a_golden_store_come_to_their_ends(released: Path) -> None:
    assert await finish(released) == FINISHED
    assert verify(released).ok


async def test_the_memories_of_a_golden_store_are_found(released: Path, request: pytest.FixtureRequest) -> None:
    remembers = "schema 1" not in request.node.name and "schema 2" not in request.node.name
    host = await SqliteHost.open(released, workers=None, clock=lambda: 0)
    scopes = MemoryScope("bob", "user", "anna"), MemoryScope("bob")
    hits = [hit for scope in scopes for hit in await host.memory.search(Query(scope, "anna cafe"))]
    superseded = await host.memory.list(scopes[0], superseded=True)
    again = await host.memory.write(NewMemory("r1:2:1:s0", scopes[0], "fact", "Anna lives in Bergen"))
    await host.close(0.0)
    assert [hit.memory.content for hit in hits] == (["Anna lives in Bergen", "Café"] if remembers else [])
    assert [memory.superseded_by for memory in superseded] == ([None, again.id] if remembers else [])


async def test_the_keys_of_a_golden_store_are_kept(released: Path, request: pytest.FixtureRequest) -> None:
    number = int(request.node.callspec.id.removeprefix("schema "))
    host = await SqliteHost.open(released, workers=None, clock=lambda: 0)
    keys, sessions = await host.access.keys(), await host.access.sessions()
    queries = await host.access.queries()
    await host.close(0.0)
    assert [(key.id, key.scopes, key.revoked_at is None) for key in keys] == (
        [("key00001", ("read", "run"), True), ("key00002", ("admin",), False)] if number >= 6 else []
    )
    assert ([session.hash for session in sessions], [query.q for query in queries]) == (
        (["hash"], ["status:failed"]) if number >= 6 else ([], [])
    )


async def test_the_texts_of_a_golden_store_are_kept(released: Path, request: pytest.FixtureRequest) -> None:
    number = int(request.node.callspec.id.removeprefix("schema "))
    host = await SqliteHost.open(released, workers=None, clock=lambda: 0)
    (version,), files = await host.listing.versions("timer"), await host.listing.source("timer", 1)
    await host.close(0.0)
    assert (version.at is not None, [file.text for file in files]) == (
        (True, ["workflows: {}"]) if number >= 6 else (False, [])
    )


def test_a_golden_store_is_whole_and_like_a_new_one_when_it_was_migrated(released: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    for store in (released, new):
        prepare(store)
    assert verify(released).ok
    columns = columns_of(new)
    assert {table: found for table, found in columns_of(released).items() if table in columns} == columns


def columns_of(store: Path) -> dict[str, list[object]]:
    """The columns of each table, in any order."""
    db = connect(store)
    try:
        tables = [name for (name,) in db.execute("select name from sqlite_schema where type = 'table'")]
        query = 'select name, type, "notnull", dflt_value, pk from pragma_table_info(?) order by name'
        return {table: list(db.execute(query, (table,))) for table in tables}
    finally:
        db.close()


async def test_a_golden_store_is_small_enough_to_keep(released: Path) -> None:
    assert max(golden(version).stat().st_size for version in VERSIONS) < 50_000


async def test_a_newer_store_is_refused_by_every_way_in(path: Path, tmp_path: Path) -> None:
    await (await park(path)).close(0.0)
    db = connect(path)
    db.pragma("user_version", SCHEMA_VERSION + 1)
    db.close()
    before = path.read_bytes()
    for attempt in (lambda: verify(path), lambda: prepare(path)):
        with pytest.raises(Refused) as refused:
            attempt()
        assert refused.value.code == "newer_store"
    assert path.read_bytes() == before


# a migration that is killed

STEPS = {
    SCHEMA_VERSION + 1: "create table more(x blob); insert into more select zeroblob(4000) from journal limit 5;",
    SCHEMA_VERSION + 2: "alter table runs add column label text; update runs set label = run;",
}
MIGRATE = f"""
import sys
from pathlib import Path
from jeton.hosts.sqlite.file.migrate import prepare
prepare(Path(sys.argv[1]), {STEPS!r})
"""
OLD, NEW = (SCHEMA_VERSION, False, False), (SCHEMA_VERSION + 2, True, True)
KILLS = 3  # of each kind, spread over the whole length


def migrate(store: Path, log: Path, *tracing: str) -> int:
    """Run it in a process under strace. Returns how often it made the traced call."""
    words = ["strace", "-f", "-qq", "-o", str(log), *tracing, sys.executable, "-c", MIGRATE, str(store)]
    subprocess.run(words, cwd=ROOT, capture_output=True)
    return len(log.read_text().splitlines())


def found_in(store: Path) -> tuple[int, bool, bool]:
    """The schema version of a store, and what the two steps have left in it."""
    db = connect(store)
    try:
        tables = {name for (name,) in db.execute("select name from sqlite_schema")}
        columns = {row[1] for row in db.execute("pragma table_info(runs)")}
        assert db.execute("select count(*) from runs").get == len(PARKED)
        return db.pragma("user_version"), "more" in tables, "label" in columns
    finally:
        db.close()


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize("call", ["pwrite64", "fdatasync"])
async def test_a_migration_killed_anywhere_is_old_or_new(path: Path, tmp_path: Path, call: str) -> None:
    await (await park(path)).close(0.0)
    whole = tmp_path / "whole.db"
    shutil.copy(path, whole)
    calls = migrate(whole, tmp_path / "log", "-e", f"trace={call}")
    assert found_in(whole) == NEW
    seen: set[tuple[int, bool, bool]] = set()
    for number in sorted({1 + calls * kill // KILLS for kill in range(KILLS)} | {calls}):
        copy = tmp_path / f"killed-{number}.db"
        shutil.copy(path, copy)
        migrate(copy, tmp_path / "log", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}")
        seen.add(found_in(copy))
        prepare(copy, STEPS)  # and the next time it is done
        assert found_in(copy) == NEW
    assert seen == {OLD, NEW}
