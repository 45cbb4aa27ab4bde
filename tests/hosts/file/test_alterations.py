"""Whatever is altered in a store is found: a value of any column of any table, and any byte that holds something."""

import asyncio
import random
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import apsw
import pytest

from jeton.actor.whole.verified import Finding, Verified
from jeton.hosts.sql.connection import Value
from jeton.hosts.sqlite.file.connect import connect
from jeton.hosts.sqlite.tools.backup import backup
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from tests.hosts.file.full_store import INDEX, dump, fill
from tests.hosts.parked import BEGIN_MS

ROWS = 2  # of each table, at most
SEEDS, FLIPS = range(4), 100
TYPED = {"state_typed_v1", "state_typed_v1_votes", "state_typed_v1_rest", "state_panel_v1", "branch_panel_v1"}


def _tables() -> list[str]:
    db = connect(":memory:")
    for _ in db.execute((files("jeton.hosts.sqlite") / "schema.sql").read_text()):
        pass
    return [name for (name,) in db.execute("select name from sqlite_schema where type = 'table'")]


TABLES = sorted({*_tables(), *TYPED} - INDEX)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store with a row in every table; tests work on copies."""
    path = tmp_path_factory.mktemp("full") / "store.db"
    asyncio.run(fill(path))
    assert verify(path) == Verified(True, ())
    return path


class Copy:
    """A copy of the store that is altered, verified and restored."""

    def __init__(self, full: Path, path: Path) -> None:
        self._whole = full.read_bytes()
        self.path = path
        artifacts = path.with_name(f"{path.name}-artifacts")
        artifacts.symlink_to(full.with_name(f"{full.name}-artifacts"))

    def restore(self, content: bytes | None = None) -> None:
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        self.path.write_bytes(self._whole if content is None else content)

    def alter(self, statement: str, *values: Value) -> bool:
        """Returns False if SQLite refuses it."""
        self.restore()
        db = connect(self.path)
        try:
            db.pragma("foreign_keys", False)
            db.pragma("ignore_check_constraints", True)
            db.execute(statement, values)
            return bool(db.execute("select changes()").get)
        except (apsw.ConstraintError, apsw.MismatchError):
            return False
        finally:
            db.close()

    def found(self) -> bool:
        """Whether verify finds anything; a file that is no store any more counts."""
        try:
            return not verify(self.path).ok
        except Refused:
            return True

    def query(self, query: str) -> list[tuple[Value, ...]]:
        self.restore()
        db = connect(self.path)
        try:
            return list(db.execute(query))
        finally:
            db.close()


@pytest.fixture
def copy(full: Path, path: Path) -> Copy:
    return Copy(full, path)


def others(value: Value) -> Iterator[Value]:
    """Values that differ from this one a little, and NULL."""
    match value:
        case int() | float():
            yield from (value + 1, value - 1)
        case str():
            yield from (chr(ord(value[0]) ^ 1) + value[1:], value[:-1] + chr(ord(value[-1]) ^ 2)) if value else ("x",)
        case bytes():
            middle = len(value) // 2
            yield value[:middle] + bytes([value[middle] ^ 1]) + value[middle + 1 :] if value else b"x"
            yield value + b" "
        case _:
            yield from (1, "x", b"x")
    if value is not None:
        yield None


def test_every_table_has_a_row(copy: Copy) -> None:
    found = [name for (name,) in copy.query("select name from sqlite_schema where type = 'table'")]
    assert set(TABLES) <= set(found)
    assert {str(name).split("_")[0] for name in set(found) - set(TABLES) - INDEX} <= {"state", "branch"}
    for table in TABLES:
        assert copy.query(f"select count(*) from {table}") != [(0,)], table


@pytest.mark.parametrize("table", TABLES)
def test_a_value_that_was_altered_is_found(copy: Copy, table: str) -> None:
    columns = [str(row[1]) for row in copy.query(f"pragma table_info({table})")]
    which = " and ".join(f'"{name}" is ?' for name in columns)
    altered: set[str] = set()
    for row in copy.query(f"select * from {table} limit {ROWS}"):
        for column, value in zip(columns, row, strict=True):
            for other in others(value):
                if copy.alter(f'update {table} set "{column}" = ? where {which}', other, *row):
                    altered.add(column)
                    assert copy.found(), (column, row, other)
    assert altered == set(columns)


@pytest.mark.parametrize("table", sorted(INDEX - {"memory_index"}))
def test_an_index_that_was_altered_is_found_unless_it_answers_as_before(full: Path, copy: Copy, table: str) -> None:
    columns = [str(row[1]) for row in copy.query(f"pragma table_info({table})")]
    which = " and ".join(f'"{name}" is ?' for name in columns)
    before, found = dump(full), 0
    for row in copy.query(f"select * from {table}"):
        pairs = [(name, other) for name, old in zip(columns, row, strict=True) for other in others(old)]
        changes: list[tuple[str, tuple[Value, ...]]] = [(f"delete from {table}", ())]
        changes += [(f'update {table} set "{name}" = ?', (other,)) for name, other in pairs]
        for statement, values in changes:
            if copy.alter(f"{statement} where {which}", *values, *row):
                altered, noticed = dump(copy.path) != before, copy.found()
                found += noticed
                assert noticed or not altered, (row, statement, values)
    assert found


FOLLOWS = {"runs", "journal", "sections", "gates", "meta", "layouts", "sqlite_sequence", *TYPED}
"""Tables of which a row that is missing is noticed, because something else says that it was there."""


@pytest.mark.parametrize("table", sorted(FOLLOWS))
def test_a_row_that_is_gone_is_found(copy: Copy, table: str) -> None:
    rows = copy.query(f"select * from {table} limit {ROWS}")
    columns = [str(row[1]) for row in copy.query(f"pragma table_info({table})")]
    which = " and ".join(f'"{name}" is ?' for name in columns)
    for row in rows:
        if table == "meta" and row[0] == "commits":
            continue  # a store that was never written has none
        assert copy.alter(f"delete from {table} where {which}", *row)
        assert copy.found(), row


OF_RUNS = {"runs", "sections", "state_typed_v1_rest", "state_typed_v1_votes"}
SEVERAL = {"definitions", "layouts", "meta", "once", "snapshots", "start_keys", "tokens_used", "usage", *OF_RUNS}


@pytest.mark.parametrize("table", sorted(SEVERAL))
def test_rows_whose_values_were_swapped_are_found(copy: Copy, table: str) -> None:
    """All that one row says, with its digest, under the key of another. With one row, see the altered values."""
    info = copy.query(f"pragma table_info({table})")
    keys = [index for index, row in enumerate(info) if row[5]]
    rows = copy.query(f"select * from {table} limit 2")
    one, other = (
        [own[index] if index in keys else said[index] for index in range(len(info))] for own, said in (rows, rows[::-1])
    )
    marks = ", ".join("?" * len(info))
    assert copy.alter(f"replace into {table} values({marks}), ({marks})", *one, *other)
    assert copy.found()


def test_entries_of_a_run_whose_positions_were_swapped_are_found(copy: Copy) -> None:
    rows = copy.query("select position, run, number, hash, body from journal where run = 'chain' order by number")
    (first, *one), (second, *other) = rows[:2]
    marks = ", ".join("?" * 5)
    assert copy.alter(f"replace into journal values({marks}), ({marks})", first, *other, second, *one)
    assert copy.found()


def test_what_was_altered_is_named_with_what_to_do(copy: Copy) -> None:
    copy.alter("update start_keys set key = 'key of old?' where key = 'key of old'")
    problem = "the row of 'start_keys' with workflow 'old', key 'key of old?' was altered: restore a backup"
    assert verify(copy.path) == Verified(False, (Finding(RunId("old"), problem),))


def test_an_artifact_that_is_gone_or_altered_is_found(full: Path, path: Path) -> None:
    artifacts = path.with_name(f"{path.name}-artifacts")
    shutil.copy(full, path)
    shutil.copytree(full.with_name(f"{full.name}-artifacts"), artifacts)
    file, memory = sorted(
        (each for each in artifacts.rglob("*") if each.is_file()), key=lambda each: each.stat().st_size
    )
    file.write_bytes(b"contend")
    assert [(found.run_id, "other content" in found.problem) for found in verify(path).problems] == [("chain", True)]
    file.unlink()
    assert [(found.run_id, "No such file" in found.problem) for found in verify(path).problems] == [("chain", True)]
    memory.unlink()
    (found,) = (found for found in verify(path).problems if found.run_id is None)
    assert "of the memory 'm" in found.problem


def test_a_copy_has_no_files_of_artifacts_and_is_whole(full: Path, path: Path) -> None:
    backup(full, path, BEGIN_MS)
    assert verify(path) == Verified(True, ())


def test_tables_of_others_in_the_store_are_left_alone(copy: Copy) -> None:
    copy.alter("create table mine(x); create index theirs on runs(hash)")
    assert verify(copy.path) == Verified(True, ())


# bytes


def harmed(whole: bytes, chance: random.Random) -> bytes:
    """A flipped bit, a changed byte, some bytes of zeros, or a cut."""
    at = chance.randrange(len(whole))
    match chance.randrange(8):
        case 0:
            return whole[:at]
        case 1:
            length = chance.randrange(1, 64)
            return whole[:at] + bytes(min(length, len(whole) - at)) + whole[at + length :]
        case 2:
            return whole[:at] + bytes([chance.randrange(256)]) + whole[at + 1 :]
        case _:
            return whole[:at] + bytes([whole[at] ^ (1 << chance.randrange(8))]) + whole[at + 1 :]


@pytest.mark.parametrize("seed", [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.long) for seed in SEEDS[1:])])
def test_bytes_that_were_altered_are_found_where_they_hold_anything(full: Path, copy: Copy, seed: int) -> None:
    chance, whole, before = random.Random(seed), full.read_bytes(), dump(full)
    changed = 0
    while changed < FLIPS:
        content = harmed(whole, chance)
        copy.restore(content)
        if dump(copy.path) != before:
            changed += 1
            copy.restore(content)
            assert copy.found(), changed
