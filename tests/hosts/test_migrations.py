"""Stores of every released schema open today, and their runs come to their ends; nothing is ever half migrated."""

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.connect import connect
from jeton.hosts.sqlite.migrate import SCHEMA_VERSION, prepare
from jeton.hosts.sqlite.verify import verify
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
    found = {row.run: row.status for row in host.rows()}
    await host.close(0.0)
    assert found == PARKED


async def test_the_runs_of_a_golden_store_come_to_their_ends(released: Path) -> None:
    assert await finish(released) == FINISHED
    assert verify(released).ok


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
    2: "create table more(x blob); insert into more select zeroblob(4000) from sections, sections;",
    3: "alter table runs add column label text; update runs set label = run;",
}
MIGRATE = f"""
import sys
from pathlib import Path
from jeton.hosts.sqlite.migrate import prepare
prepare(Path(sys.argv[1]), {{2: {STEPS[2]!r}, 3: {STEPS[3]!r}}})
"""
OLD, NEW = SCHEMA_VERSION, 3


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize("call", ["pwrite64", "fdatasync"])
async def test_a_migration_killed_anywhere_is_old_or_new(path: Path, tmp_path: Path, call: str) -> None:
    await (await park(path)).close(0.0)
    seen: set[int] = set()
    for number in range(1, 200, 9 if call == "pwrite64" else 1):
        copy = tmp_path / f"killed-{number}" / path.name
        copy.parent.mkdir()
        shutil.copy(path, copy)
        inject = f"inject={call}:signal=KILL:when={number}"
        words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject, sys.executable]
        killed = subprocess.run([*words, "-c", MIGRATE, str(copy)], cwd=ROOT, capture_output=True)
        db = connect(copy)
        version, tables = db.pragma("user_version"), {name for (name,) in db.execute("select name from sqlite_schema")}
        columns = {row[1] for row in db.execute("pragma table_info(runs)")}
        runs = db.execute("select count(*) from runs").get
        db.close()
        seen.add(version)
        assert (version, "more" in tables, "label" in columns) in ((OLD, False, False), (NEW, True, True)), number
        assert runs == len(PARKED)
        prepare(copy, STEPS)  # and the next time it is done
        if killed.returncode == 0:
            break
    assert seen == {OLD, NEW}
