"""One run as a file, and back in another store."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jeton.actor.retention import Rule
from jeton.actor.whole.portable import ImportedRun, Portable, _digest  # pyright: ignore[reportPrivateUsage]
from jeton.engine.stores import import_into
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.store import file_store
from jeton.hosts.sqlite.tools.portable import export_run
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.message import CancelRun
from tests.hosts.library import chain, library
from tests.hosts.parked import BEGIN_MS, FINISHED, PARKED, finish, park
from tests.hosts.trivial import TrivialWorkers
from tests.hosts.works import work


@pytest.fixture
async def files(path: Path) -> dict[str, bytes]:
    """A run at every kind of wait, exported while its store was in use."""
    host = await park(path)
    found = {name: export_run(path, RunId(name)) for name in PARKED}
    await host.close(0.0)
    return found


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return tmp_path / "other.db"


def import_run(store: Path, file: bytes) -> ImportedRun:
    return import_into(store, file, BEGIN_MS)


async def test_imported_runs_are_what_they_were_and_paused(path: Path, other: Path) -> None:
    host = await park(path)
    for name in PARKED:
        import_run(other, export_run(path, RunId(name)))
    assert verify(other).problems == ()
    here, there = file_store(path), file_store(other)
    for name in map(RunId, PARKED):
        row, before = there.row(name), here.row(name)
        assert row is not None
        assert before is not None
        assert (row.status, row.output, row.submitted_at) == (before.status, before.output, before.submitted_at)
        assert row.paused == (row.status != "completed")
        assert there.entries(name)[: before.entries] == here.entries(name)
        assert row.entries == before.entries + row.paused
        found, expected = there.live(name), here.live(name)
        assert found is not None
        assert expected is not None
        assert found.state.state == expected.state.state
    here.close()
    there.close()
    await host.close(0.0)


async def test_imported_runs_come_to_their_ends(files: dict[str, bytes], other: Path) -> None:
    for file in files.values():
        import_run(other, file)
    assert await finish(other) == FINISHED
    assert verify(other).ok


async def test_a_store_in_use_takes_up_what_is_imported(files: dict[str, bytes], other: Path) -> None:
    host = await SqliteHost.open(other, workers=TrivialWorkers(work))
    import_run(other, files["chain"])
    row = await host.reads.row(RunId("chain"))
    assert row is not None
    assert row.status == "completed"
    import_run(other, files["timer"])
    await host.deliver(RunId("timer"), CancelRun(BEGIN_MS))
    assert (await host.ended(RunId("timer"))).status == "cancelled"
    await host.close(0.0)
    assert verify(other).ok


async def test_a_message_that_waits_goes_along(path: Path, other: Path) -> None:
    await (await park(path)).close(0.0)
    visitor = await SqliteHost.open(path, workers=None, owner=False)
    await visitor.deliver(RunId("timer"), CancelRun(BEGIN_MS))
    await visitor.close()
    import_run(other, export_run(path, RunId("timer")))
    assert (await finish(other))["timer"] == ("cancelled", None)


async def test_typed_context_goes_along(files: dict[str, bytes], other: Path) -> None:
    import_run(other, files["chain"])
    store = file_store(other)
    with store.snapshot() as db:
        assert list(db.execute("select run_id, n from state_chain_v1")) == [("chain", 3)]
    store.close()


async def test_a_definition_gets_the_number_that_is_free(files: dict[str, bytes], other: Path) -> None:
    host = await SqliteHost.open(other, workers=TrivialWorkers(work))
    assert await host.deploy(library(chain=chain(7)), "chain") == 1
    import_run(other, files["chain"])
    row = await host.reads.row(RunId("chain"))
    assert row is not None
    assert row.version == 2
    found = await host.reads.bundle("chain")
    assert found is not None
    assert found[1] == 1  # what new runs get is what they got before
    await host.close(0.0)
    assert verify(other).ok


async def test_a_pruned_run_travels_too(path: Path, other: Path) -> None:
    host = await park(path)
    await host.prune([Rule("history", 0)])
    file = export_run(path, RunId("chain"))
    await host.close(0.0)
    import_run(other, file)
    assert verify(other).ok


async def test_a_run_with_snapshots_gets_another_version(path: Path, other: Path) -> None:
    host = await park(path, {"snapshot_policy": {"every_n_entries": 1}})
    file = export_run(path, RunId("panel"))
    await host.close(0.0)
    target = await SqliteHost.open(other, workers=TrivialWorkers(work))
    await target.deploy(library(panel=chain(7)), "panel")
    import_run(other, file)
    await target.close(0.0)
    assert verify(other).ok


# what is refused


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(Refused) as refused:
        act()
    return refused.value.code


async def test_a_run_that_is_there_is_refused(files: dict[str, bytes], path: Path, other: Path) -> None:
    assert refusal(lambda: import_run(path, files["chain"])) == "run_exists"
    import_run(other, files["chain"])
    assert refusal(lambda: import_run(other, files["chain"])) == "run_exists"
    assert verify(other).ok


def test_a_run_that_is_not_there_is_refused(files: dict[str, bytes], path: Path) -> None:
    assert refusal(lambda: export_run(path, RunId("nobody"))) == "unknown_run"


def altered(file: bytes, alter: Callable[[dict[str, Any]], object]) -> bytes:
    found = msgspec.json.decode(file)
    alter(found)
    return msgspec.json.encode(found)


ALTERATIONS: dict[str, Callable[[dict[str, Any]], object]] = {
    "an entry": lambda file: file["journal"][1]["body"].update(first_event=9),
    "an entry's hash": lambda file: file["journal"][1].update(hash=file["journal"][0]["hash"]),
    "an entry less": lambda file: file["journal"].pop(),
    "entries in another order": lambda file: file["journal"].reverse(),
    "the context": lambda file: file["sections"].update({"state/n": 4}),
    "a section more": lambda file: file["sections"].update({"state/m": 4}),
    "the row": lambda file: file["row"].update(status="failed"),
    "the name": lambda file: file.update(run_id="mine"),
    "the snapshot": lambda file: file["snapshots"][0].update(digest=file["journal"][0]["hash"]),
    "the definition": lambda file: file["definition"]["workflows"].clear(),
}


@pytest.mark.parametrize("alter", ALTERATIONS.values(), ids=ALTERATIONS)
def test_an_altered_file_is_refused(
    files: dict[str, bytes], other: Path, alter: Callable[[dict[str, Any]], object]
) -> None:
    file = altered(files["chain"], alter)
    assert refusal(lambda: import_run(other, file)) == "file_altered"
    assert not other.exists()


@pytest.mark.parametrize("alter", ALTERATIONS.values(), ids=ALTERATIONS)
def test_an_altered_file_with_a_digest_to_match_is_refused_too(
    files: dict[str, bytes], other: Path, alter: Callable[[dict[str, Any]], object]
) -> None:
    portable = msgspec.json.decode(altered(files["chain"], alter), type=Portable)
    file = msgspec.json.encode(msgspec.structs.replace(portable, digest=_digest(portable)))
    assert refusal(lambda: import_run(other, file)) == "file_altered"
    assert not other.exists()


def test_a_file_laid_out_anew_is_the_same_file(files: dict[str, bytes], other: Path) -> None:
    import_run(other, msgspec.json.format(files["chain"], indent=4))
    assert verify(other).ok


@pytest.mark.parametrize(
    ("file", "code"),
    [
        pytest.param(b"", "not_a_run", id="an empty file"),
        pytest.param(b"shopping", "not_a_run", id="no JSON"),
        pytest.param(b"[]", "not_a_run", id="no object"),
        pytest.param(b'{"format": "jeton-run"}', "not_a_run", id="half a file"),
        pytest.param(b'{"format": "jeton-run", "format_version": 2}', "newer_file", id="a newer file"),
        pytest.param(b"\xff\xfe{}", "not_a_run", id="no UTF-8"),
        pytest.param(b'{"a":' * 100_000, "not_a_run", id="a deep one"),
    ],
)
def test_what_is_no_exported_run_is_refused(other: Path, file: bytes, code: str) -> None:
    assert refusal(lambda: import_run(other, file)) == code
    assert not other.exists()


def test_a_second_journey_gives_the_same_file(files: dict[str, bytes], other: Path, tmp_path: Path) -> None:
    third = tmp_path / "third.db"
    for name, file in files.items():
        import_run(other, file)
        once = export_run(other, RunId(name))
        import_run(third, once)
        assert export_run(third, RunId(name)) == once
