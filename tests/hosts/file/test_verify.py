"""Damaged stores are found, with the runs concerned."""

import random
import shutil
from pathlib import Path

import apsw
import pytest

from jeton.actor.starts import NewRun
from jeton.actor.whole.verified import Verified
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.file.connect import connect
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from tests.hosts.parked import BEGIN_MS, DEFINITIONS, at_first, finish, park
from tests.hosts.trivial import TrivialWorkers


@pytest.fixture
async def parked(path: Path) -> Path:
    """A closed store with runs of every kind."""
    host = await park(path)
    await host.close(0.0)
    return path


def named(verified: Verified) -> set[str | None]:
    return {found.run_id for found in verified.problems}


def test_a_whole_store_is_whole(parked: Path) -> None:
    assert verify(parked) == Verified(True, ())


async def test_a_store_may_be_verified_while_it_is_in_use(path: Path) -> None:
    host = await park(path)
    assert verify(path).ok
    await host.close(0.0)


async def test_a_store_whose_runs_went_on_is_whole(parked: Path) -> None:
    await finish(parked)
    assert verify(parked).ok


def blob(text: str) -> str:
    """Bytes, as SQL writes them."""
    return f"x'{text.encode().hex()}'"


def small(run: str, before: str, after: str) -> str:
    """Alter a section that is stored in its run's row."""
    said = f"replace(cast(small as text), '{before}', '{after}')"
    return f"update runs set small = cast({said} as blob) where run = '{run}' and instr(small, {blob(before)})"


@pytest.mark.parametrize(
    ("run", "harm", "said"),
    [
        pytest.param(
            "chain",
            "update journal set body = cast(replace(body, 'n1', 'n2') as blob) where run = 'chain' and number = 2",
            "journal entry 2 was altered",
            id="an entry was altered",
        ),
        pytest.param(
            "chain",
            "delete from journal where run = 'chain' and number = 1",
            "entry 1 is missing",
            id="an entry is gone",
        ),
        pytest.param(
            "chain",
            "delete from journal where run = 'chain' and number = 3",
            "has 3 entries",
            id="the last entry is gone",
        ),
        pytest.param(
            "chain",
            "update journal set body = (select body from journal where run = 'timer'), hash = hash where run = 'chain'",
            "was altered",
            id="an entry is another run's",
        ),
        pytest.param(
            "chain", "update runs set hash = zeroblob(32) where run = 'chain'", "end in the hash", id="the head"
        ),
        pytest.param("chain", "update runs set entries = 9 where run = 'chain'", "9 were stored", id="the count"),
        pytest.param("chain", "update runs set status = 'failed' where run = 'chain'", "'status'", id="the status"),
        pytest.param("timer", "update runs set wake = null where run = 'timer'", "'wake'", id="a timer nobody watches"),
        pytest.param(
            "dispatched", "update runs set busy = 0 where run = 'dispatched'", "'busy'", id="a forgotten task"
        ),
        pytest.param("timer", "update runs set submitted_at = 1 where run = 'timer'", "'submitted_at'", id="a time"),
        pytest.param(
            "timer",
            small("timer", '"tokens/0":[', '"tokens/1":['),
            "tokens/0",
            id="tokens",
        ),
        pytest.param(
            "chain",
            small("chain", '"state/n":3', '"state/n":4'),
            "state/n",
            id="the context",
        ),
        pytest.param(
            "chain",
            small("chain", '"state/n":3', '"state/n":3.0'),
            "state/n",
            id="its type",
        ),
        pytest.param("panel", "delete from sections where run = 'panel'", "missing", id="all sections are gone"),
        pytest.param(
            "chain",
            f"insert into sections values('chain', 'state/more', 0, {blob('1')})",
            "does not lead to",
            id="one too many",
        ),
        pytest.param(
            "chain", f"update runs set small = {blob('{')} where run = 'chain'", "cannot be read", id="no JSON"
        ),
        pytest.param("chain", "update runs set small = null where run = 'chain'", "missing", id="all of it is gone"),
        pytest.param(
            "panel",
            f"update sections set body = {blob('{')} where run = 'panel'",
            "cannot be read",
            id="no JSON in a row",
        ),
        pytest.param(
            "chain", f"update runs set head = {blob('{')} where run = 'chain'", "cannot be read", id="no head"
        ),
        pytest.param("chain", "update state_chain_v1 set n = 4", "typed context", id="the typed context"),
        pytest.param("chain", "delete from state_chain_v1", "no row", id="no typed context"),
        pytest.param(
            "chain", "insert into state_chain_v1_votes values('chain', 1, 1)", "cannot be read", id="a list with a gap"
        ),
        pytest.param("panel", "delete from branch_panel_v1", "branches", id="what a branch brought"),
        pytest.param("chain", "update snapshots set digest = zeroblob(32)", "was altered", id="a snapshot"),
        pytest.param(
            "gone", f"insert into inbox(run, body) values('gone', {blob('{}')})", "not there", id="a message to nobody"
        ),
        pytest.param(
            "chain", f"insert into inbox(run, body) values('chain', {blob('{}')})", "message", id="no message"
        ),
        pytest.param(
            "gone",
            f"insert into journal values(1000, 'gone', 0, {blob('')}, {blob('')})",
            "not there",
            id="a journal of nobody",
        ),
        pytest.param("chain", "delete from definitions where name = 'chain'", "its workflow", id="no definition"),
        pytest.param(
            None, "update definitions set hash = 'x' where name = 'chain'", "altered", id="another definition"
        ),
    ],
)
def test_what_was_altered_is_found_and_its_run_named(parked: Path, run: str | None, harm: str, said: str) -> None:
    db = connect(parked)
    db.pragma("foreign_keys", False)
    db.execute(harm)
    db.close()
    found = verify(parked)
    assert not found.ok
    assert {run} <= named(found) <= {run, None}
    assert any(said in problem.problem for problem in found.problems), found.problems


# lost commits


async def killed(path: Path, folder: Path, *, commits: int = 3) -> Path:
    """The files of a process that was killed with its last commits only in the log."""
    host = await park(path)
    store = folder / "killed" / path.name
    store.parent.mkdir()
    for number in range(commits):
        await host.start(NewRun("dispatched", 1, {}, run=RunId(f"late-{number}")))
    for file in path.parent.glob(f"{path.name}*"):
        shutil.copy(file, store.with_name(file.name))
    await host.close(0.0)
    store.with_name(f"{path.name}-shm").unlink()
    return store


async def test_a_log_that_is_all_there_has_lost_nothing(path: Path, tmp_path: Path) -> None:
    assert verify(await killed(path, tmp_path)).ok


async def test_a_torn_log_is_noticed_and_the_runs_that_lost_something_are_named(path: Path, tmp_path: Path) -> None:
    store = await killed(path, tmp_path)
    log = store.with_name(f"{store.name}-wal")
    log.write_bytes(log.read_bytes()[:-5000])
    found = verify(store)
    assert None in named(found)
    assert named(found) - {None} <= {"late-0", "late-1", "late-2"}
    assert "late-2" in named(found)
    assert "the last" in found.problems[0].problem


async def test_any_tear_that_loses_a_commit_is_noticed(path: Path, tmp_path: Path) -> None:
    store = await killed(path, tmp_path)
    chance = random.Random(7)
    log = store.with_name(f"{store.name}-wal").read_bytes()
    shutil.copytree(store.parent, tmp_path / "whole")
    whole = count(tmp_path / "whole" / store.name)
    for number in range(40):
        torn = tmp_path / f"torn-{number}" / store.name
        shutil.copytree(store.parent, torn.parent)
        at = chance.randrange(len(log))
        harmed = log[:at] if number % 2 else log[:at] + bytes([log[at] ^ 0x10]) + log[at + 1 :]
        torn.with_name(f"{torn.name}-wal").write_bytes(harmed)
        assert verify(torn).ok == (count(torn) == whole), at


def count(store: Path) -> list[object]:
    db = connect(store)
    try:
        return [list(db.execute(f"select * from {table}")) for table in ("meta", "runs", "journal", "sections")]
    finally:
        db.close()


async def test_a_loss_is_remembered_when_the_store_goes_on(
    path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = await killed(path, tmp_path)
    log = store.with_name(f"{store.name}-wal")
    log.write_bytes(log.read_bytes()[:-5000])
    host = await SqliteHost.open(store, workers=TrivialWorkers(at_first), clock=lambda: BEGIN_MS)
    await host.close(0.0)
    assert "has lost its last" in caplog.text
    assert "late-2" in named(verify(store))


async def test_without_the_file_beside_it_a_loss_is_not_seen(path: Path, tmp_path: Path) -> None:
    """The limit of the check: a loss of both the commit log and the write-ahead log is not found."""
    store = await killed(path, tmp_path)
    log = store.with_name(f"{store.name}-wal")
    log.write_bytes(log.read_bytes()[:-5000])
    store.with_name(f"{store.name}-tail").unlink()
    assert verify(store).ok


async def test_a_store_works_without_the_file_beside_it(path: Path) -> None:
    path.with_name(f"{path.name}-tail").mkdir()
    host = await park(path)
    await host.close(0.0)
    assert verify(path).ok


# flipped bytes


async def test_a_flipped_byte_that_changes_a_run_is_found(parked: Path, tmp_path: Path) -> None:
    """SQLite's own check finds few of them. Bytes that nothing is stored in do not matter."""
    body = parked.read_bytes()
    whole = content(parked)
    chance = random.Random(11)
    changed = 0
    for _ in range(150):
        at = chance.randrange(100, len(body))
        flipped = tmp_path / "flipped.db"
        flipped.write_bytes(body[:at] + bytes([body[at] ^ (1 << chance.randrange(8))]) + body[at + 1 :])
        if content(flipped) != whole:
            changed += 1
            assert not verified(flipped), at
    assert changed > 10


def verified(store: Path) -> bool:
    try:
        return verify(store).ok
    except Refused:
        return False


def content(store: Path) -> object:
    """Everything a store holds of its runs; what cannot be read counts as different."""
    tables = {
        "runs": "*",
        "journal": "run, number, hash, body",
        "sections": "*",
        "snapshots": "*",
        "layouts": "*",
        "definitions": "name, version, hash, bundle",
        **{f"state_{name}_v1": "*" for name, definition in DEFINITIONS.items() if "state_schema" in definition},
    }
    db = connect(store)
    try:
        return [list(db.execute(f"select {columns} from {table}")) for table, columns in tables.items()]
    except (apsw.Error, UnicodeDecodeError) as problem:
        return str(problem)
    finally:
        db.close()


# what is no store


def test_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refused:
        verify(tmp_path / "nowhere.db")
    assert refused.value.code == "no_store"


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("shopping" * 100)
    with pytest.raises(Refused) as refused:
        verify(tmp_path / "list")
    assert refused.value.code == "not_a_store"
