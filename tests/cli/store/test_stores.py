"""`jeton verify`, `backup`, `export` and `import`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from jeton.cli.main import main
from jeton.hosts.sqlite.file.connect import connect
from tests.hosts.parked import DEFINITIONS, park


@pytest.fixture
async def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    await (await park(path)).close(0.0)
    return path


def jeton(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


def test_a_whole_store_has_no_problems(store: Path) -> None:
    said = jeton("verify", "--store", store, "--json")
    assert (said.exit_code, json.loads(said.output)) == (0, {"ok": True, "problems": []})
    assert jeton("verify", "--store", store).output == "no problems\n"


def test_a_damaged_store_is_named_run_by_run(store: Path) -> None:
    db = connect(store)
    db.execute("delete from journal where run = 'chain' and number = 1")
    db.close()
    said = jeton("verify", "--store", store, "--json")
    found = json.loads(said.output)
    assert (said.exit_code, found["ok"]) == (1, False)
    named = {problem["run_id"] for problem in found["problems"]}
    assert named == {"chain", None}, "the run, and the line of all runs"
    assert "run chain: journal entry 1 is missing" in jeton("verify", "--store", store).output


def test_a_store_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    said = jeton("verify", "--store", tmp_path / "nowhere.db", "--json")
    assert (said.exit_code, json.loads(said.output)["code"]) == (3, "no_store")


def test_a_copy_is_made_once(store: Path, tmp_path: Path) -> None:
    said = jeton("backup", tmp_path / "copy.db", "--store", store, "--json")
    assert (said.exit_code, json.loads(said.output)["runs"]) == (0, len(DEFINITIONS) + 1)  # one of them called another
    assert jeton("verify", "--store", tmp_path / "copy.db").exit_code == 0
    assert jeton("backup", tmp_path / "copy.db", "--store", store).exit_code == 5


def test_a_run_travels_by_file(store: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "run.json", tmp_path / "other.db"
    assert jeton("export", "chain", "--out", file, "--store", store).exit_code == 0
    assert jeton("export", "chain", "--out", file, "--store", store).exit_code == 5
    said = jeton("import", file, "--store", other, "--json")
    assert (said.exit_code, json.loads(said.output)["run_id"]) == (0, "chain")
    assert jeton("import", file, "--store", other).exit_code == 5
    for verb in ("show", "events", "tokens", "explain", "context"):
        assert jeton(verb, "chain", "--store", other).exit_code == 0, verb
    assert jeton("verify", "--store", other).exit_code == 0


def test_a_run_is_printed_without_a_file_to_write(store: Path) -> None:
    said = jeton("export", "chain", "--store", store)
    assert json.loads(said.output)["run_id"] == "chain"


def test_what_is_not_there_is_not_found(store: Path, tmp_path: Path) -> None:
    assert jeton("export", "nobody", "--store", store).exit_code == 3
    assert jeton("import", tmp_path / "nothing.json", "--store", store).exit_code == 3


def test_an_altered_file_is_refused(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(jeton("export", "chain", "--store", store).stdout_bytes.replace(b'"n2"', b'"n3"'))
    said = jeton("import", file, "--store", tmp_path / "other.db", "--json")
    assert (said.exit_code, json.loads(said.output)["code"]) == (5, "file_altered")
