"""Which files are opened as stores, and which are refused, untouched."""

import hashlib
import shutil
from pathlib import Path

import pytest

from jeton.actor.starts import NewRun
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.file import checks
from jeton.hosts.sqlite.file.connect import connect
from jeton.hosts.sqlite.file.migrate import SCHEMA_VERSION, prepare
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from tests.hosts.conftest import OpenHost
from tests.hosts.library import HOLD, chain, library
from tests.hosts.process import child, kill, line


async def refused_code(path: Path, *, owner: bool = True) -> str:
    with pytest.raises(Refused) as refused:
        await SqliteHost.open(path, workers=None, owner=owner)
    return refused.value.code


def fingerprint(folder: Path) -> dict[str, str]:
    files = [file for file in folder.iterdir() if not file.name.endswith("-lock")]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


async def test_a_newer_store_is_refused_untouched(open_host: OpenHost, path: Path) -> None:
    host = await open_host()
    await host.close()
    db = connect(path)
    db.pragma("user_version", SCHEMA_VERSION + 1)
    db.close()
    before = fingerprint(path.parent)
    assert await refused_code(path) == "newer_store"
    assert await refused_code(path, owner=False) == "newer_store"
    assert fingerprint(path.parent) == before


@pytest.mark.parametrize("owner", [True, False])
async def test_a_file_of_another_kind_is_refused_untouched(path: Path, owner: bool) -> None:
    path.write_text("a shopping list, and nothing like a database; it is longer than a hundred bytes, as lists are" * 9)
    before = fingerprint(path.parent)
    assert await refused_code(path, owner=owner) == "not_a_store"
    assert fingerprint(path.parent) == before


async def test_a_database_of_another_program_is_refused(path: Path) -> None:
    db = connect(path, create=True)
    db.execute("create table shopping(list)")
    db.close()
    assert await refused_code(path) == "not_a_store"


async def test_a_visitor_makes_no_store(path: Path) -> None:
    assert await refused_code(path, owner=False) == "no_store"
    assert not list(path.parent.iterdir())


async def test_a_store_needs_a_folder(tmp_path: Path) -> None:
    assert await refused_code(tmp_path / "nowhere" / "store.db") == "no_store"


def test_what_is_there_and_cannot_be_opened_is_not_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"the store at .* cannot be opened") as refused:
        connect(tmp_path)
    assert refused.value.code == "store_failed"


@pytest.mark.parametrize("kind", ["nfs4", "fuse.sshfs", "virtiofs", "9p"])
async def test_a_shared_file_system_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    def file_system(_: Path) -> str:
        return kind

    monkeypatch.setattr(checks, "file_system", file_system)
    assert await refused_code(path) == "shared_file_system"


def test_the_kind_of_file_system_is_the_nearest_mounts(tmp_path: Path) -> None:
    if Path("/proc/self/mounts").exists():
        assert checks.file_system(tmp_path / "store.db") != ""
        assert checks.file_system(Path("/proc/self/x")) == "proc"


async def test_a_log_beside_a_replaced_main_file_is_refused(open_host: OpenHost, path: Path) -> None:
    host = await open_host()
    await host.deploy(library(w=HOLD), "w")
    await host.close()
    backup = path.with_name("backup.db")
    shutil.copy(path, backup)
    process = child("hold", str(path))
    line(process)
    kill(process)
    assert path.with_name("store.db-wal").stat().st_size > 0
    shutil.copy(backup, path)
    assert await refused_code(path) == "stale_log"
    assert await refused_code(path, owner=False) == "stale_log"
    for name in ("store.db-wal", "store.db-shm", "store.db-lock"):
        path.with_name(name).unlink(missing_ok=True)
    again = await open_host()
    assert await again.reads.rows() == []


async def test_a_store_copied_whole_with_its_log_is_a_store(path: Path, tmp_path: Path) -> None:
    process = child("hold", str(path))
    run = RunId(line(process)[1])
    kill(process)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for file in path.parent.glob("store.db*"):
        shutil.copy(file, folder / file.name)
    host = await SqliteHost.open(folder / "store.db", workers=None)
    assert [row.run for row in await host.reads.rows()] == [run]
    await host.close()


async def test_an_older_store_is_brought_up_to_date_with_a_copy_beside_it(open_host: OpenHost, path: Path) -> None:
    host = await open_host()
    version = await host.deploy(library(w=chain(1)), "w")
    await host.start(NewRun("w", version, {"n": 0}))
    await host.close()
    first, last = SCHEMA_VERSION + 1, SCHEMA_VERSION + 2
    prepare(path, {first: "create table more(x); insert into more values(1);", last: "alter table more add column y"})
    db = connect(path)
    assert db.pragma("user_version") == last
    assert db.execute("select x, y from more").get == (1, None)
    db.close()
    copy = connect(path.with_name(f"store.db.before-v{last}"))
    assert copy.pragma("user_version") == SCHEMA_VERSION
    assert copy.execute("select count(*) from runs").get == 1
    copy.close()


async def test_a_migration_that_fails_leaves_the_store_as_it_was(open_host: OpenHost, path: Path) -> None:
    host = await open_host()
    await host.close()
    with pytest.raises(Exception, match="no such table"):
        prepare(path, {SCHEMA_VERSION + 1: "create table more(x)", SCHEMA_VERSION + 2: "insert into nowhere values(1)"})
    db = connect(path)
    assert db.pragma("user_version") == SCHEMA_VERSION
    assert db.execute("select count(*) from sqlite_schema where name = 'more'").get == 0
    db.close()
    await open_host()


async def test_a_store_has_one_lock_by_whichever_link_one_comes(open_host: OpenHost, path: Path) -> None:
    await open_host()
    link = path.with_name("link.db")
    link.symlink_to(path)
    assert await refused_code(link) == "store_owned"
