"""Imported files that somebody made up: problems and exit codes, never a traceback, and no program is run."""

import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from click.testing import CliRunner, Result

from jeton.actor.journal import first_hash, next_hash
from jeton.actor.queries.snapshots import whole_sections
from jeton.actor.replay import replay
from jeton.actor.whole.portable import MAX_FILE_BYTES, Portable, _digest  # pyright: ignore[reportPrivateUsage]
from jeton.actor.whole.run_copy import columns_of
from jeton.cli.main import main
from jeton.hosts.sqlite.tools.verify import verify
from jeton.model.entry import Entry
from jeton.model.ids import RunId
from jeton.model.json import Json
from jeton.model.message import UnpauseRun
from jeton.model.state.run import Head
from tests.hosts.parked import park

Alter = Callable[[dict[str, Any]], object]


def jeton(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


@pytest.fixture
async def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    await (await park(path)).close(0.0)
    return path


def exported(store: Path, run: str) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(jeton("export", run, "--store", store).output))


def forge(file: dict[str, Any]) -> bytes:
    """The file with hashes and a digest to match, as somebody who knows the format would write it."""
    before, journal = first_hash(RunId(file["run_id"])), list[dict[str, Any]]()
    for entry in file["journal"]:
        before = next_hash(before, msgspec.json.encode(entry["body"]))
        journal.append({**entry, "hash": before})
    portable = msgspec.json.decode(msgspec.json.encode({**file, "journal": journal}), type=Portable)
    return msgspec.json.encode(msgspec.structs.replace(portable, digest=_digest(portable)))


def refold(file: dict[str, Any]) -> None:
    """Make sections and row follow from the journal, whatever it says."""
    entries = [msgspec.json.decode(msgspec.json.encode(each["body"]), type=Entry) for each in file["journal"]]
    row = file["row"]
    live = replay(Head(RunId(file["run_id"]), row["workflow"], row["version"]), entries)
    file["sections"] = {name: json.loads(body) for name, body in whole_sections(live.state).items()}
    file["row"] = msgspec.to_builtins(columns_of(live))
    file["snapshots"] = []


def imported(file: bytes, folder: Path, *words: str) -> Result:
    path = folder / "forged.json"
    path.write_bytes(file)
    return jeton("import", path, "--store", folder / "other.db", "--json", *words)


def runs_a_program(file: dict[str, Any], target: Path) -> None:
    """The run would call a program as soon as it went on."""
    implementation = {"argv": ["touch", str(target)]}
    file["definition"]["actions"] = {"act": {"kind": "shell", "implementation": implementation}}


@pytest.mark.parametrize("run", ["dispatched", "backoff"])
def test_a_forged_run_calls_nothing_until_it_is_unpaused(store: Path, tmp_path: Path, run: str) -> None:
    file, touched = exported(store, run), tmp_path / "touched"
    runs_a_program(file, touched)
    said = imported(forge(file), tmp_path)
    told = json.loads(said.output)
    assert said.exit_code == 0
    assert (told["run_id"], told["paused"]) == (run, True)
    assert told["would_call"] == [{"kind": "shell", "target": f"touch {touched}"}]
    other = tmp_path / "other.db"
    assert jeton("resume", "--store", other, "--json").exit_code == 0
    assert not touched.exists()
    assert verify(other).problems == ()
    assert jeton("unpause", run, "--store", other, "--json").exit_code == 0
    assert touched.exists()


def test_a_stored_message_does_not_unpause_it(store: Path, tmp_path: Path) -> None:
    file, touched = exported(store, "dispatched"), tmp_path / "touched"
    runs_a_program(file, touched)
    file["inbox"] = [msgspec.to_builtins(UnpauseRun(1))]
    assert imported(forge(file), tmp_path).exit_code == 0
    assert jeton("resume", "--store", tmp_path / "other.db").exit_code == 0
    assert not touched.exists()


def test_what_it_would_call_is_shown_to_people(store: Path, tmp_path: Path) -> None:
    file = exported(store, "dispatched")
    definition = file["definition"]
    definition["actions"] = {
        "act": {"kind": "http", "implementation": {"url": "https://example.com/pay"}},
    }
    definition["settings"] = {"secrets": {"key": {"command": ["cat", "/etc/passwd"]}}}
    path = tmp_path / "forged.json"
    path.write_bytes(forge(file))
    said = jeton("import", path, "--store", tmp_path / "other.db")
    assert said.exit_code == 0
    assert "http: https://example.com/pay" in said.output
    assert "secret: cat /etc/passwd" in said.output
    assert f"jeton unpause dispatched --store {tmp_path / 'other.db'}" in said.output


def test_an_ended_run_is_not_paused(store: Path, tmp_path: Path) -> None:
    told = json.loads(imported(forge(exported(store, "chain")), tmp_path).output)
    assert (told["status"], told["paused"], told["would_call"]) == ("completed", False, [])


def first_workflow(file: dict[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", file["definition"]["workflows"][file["row"]["workflow"]])


DEFINITIONS: dict[str, tuple[Alter, str]] = {
    "a transition to no node": (lambda w: w["transitions"][0].update(to="nowhere"), "unknown_node"),
    "an expression that does not parse": (
        lambda w: w["nodes"]["n0"].update(output_mapping={"state.n": "result.("}),
        "expression_invalid",
    ),
    "a start at no node": (lambda w: w.update(initial_node="nowhere"), "unknown_node"),
    "a schema that is none": (lambda w: w.update(input_schema={"type": 7}), "schema_invalid"),
    "an unknown task": (lambda w: w["nodes"]["n0"]["target"].update(task="nothing"), "unknown_task"),
    "nodes that are a list": (lambda w: w.update(nodes=[1]), "wrong_type"),
    "a negative timeout": (lambda w: w.update(timeout_ms=-1), "out_of_range"),
}


@pytest.mark.parametrize(("alter", "code"), DEFINITIONS.values(), ids=DEFINITIONS)
def test_a_definition_is_checked_like_any_other(store: Path, tmp_path: Path, alter: Alter, code: str) -> None:
    file = exported(store, "chain")
    alter(first_workflow(file))
    said = imported(forge(file), tmp_path)
    told = json.loads(said.output)
    assert said.exit_code == 2
    assert told["ok"] is False
    assert code in {problem["code"] for problem in told["problems"]}
    assert not (tmp_path / "other.db").exists()


def test_all_problems_of_a_definition_are_reported(store: Path, tmp_path: Path) -> None:
    file = exported(store, "chain")
    first_workflow(file).update(initial_node="nowhere", input_schema={"type": 7}, timeout_ms=-1)
    told = json.loads(imported(forge(file), tmp_path).output)
    assert {problem["code"] for problem in told["problems"]} >= {"unknown_node", "schema_invalid", "out_of_range"}
    assert {problem["file"] for problem in told["problems"]} == {str(tmp_path / "forged.json")}


def test_a_run_at_a_node_that_the_definition_lacks_is_refused(store: Path, tmp_path: Path) -> None:
    file = exported(store, "gate")
    workflow = first_workflow(file)
    workflow["nodes"] = {"other": {}}
    workflow.update(initial_node="other", transitions=[])
    workflow.pop("output_mapping", None)
    said = imported(forge(file), tmp_path)
    assert (said.exit_code, json.loads(said.output)["code"]) == (5, "file_altered")


@pytest.mark.parametrize("name", ["\x1b[2Jrun", "", "r" * 10_000])
def test_an_id_that_a_terminal_could_not_show_is_refused(store: Path, tmp_path: Path, name: str) -> None:
    file = json.loads(json.dumps(exported(store, "chain")).replace('"chain"', json.dumps(name)))
    assert imported(forge(file), tmp_path).exit_code in (2, 5)
    assert not (tmp_path / "other.db").exists()


def test_an_enormous_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "enormous.json"
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    said = jeton("import", path, "--store", tmp_path / "other.db", "--json")
    assert (said.exit_code, json.loads(said.output)["code"]) == (5, "file_too_large")


VALUES: list[Any] = [None, True, -1, 10**30, 1e300, "", "x" * 5000, "\x1b[2J", [], [[]], {}, {"a": {}}, "nowhere"]


def places(value: Json, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        found += [place for key, inner in value.items() for place in places(inner, (*path, key))]
    if isinstance(value, list):
        found += [place for key, inner in enumerate(value) for place in places(inner, (*path, key))]
    return found


def change(file: dict[str, Any], rng: random.Random) -> None:
    """Change, remove or double one value somewhere in the file."""
    path = rng.choice([place for place in places(file) if place[0] not in ("format", "digest")])
    inner: Any = file
    for key in path[:-1]:
        inner = inner[key]
    match rng.choice(["set", "set", "remove", "double"]):
        case "remove":
            del inner[path[-1]]
        case "double" if isinstance(path[-1], int):
            inner.append(inner[path[-1]])
        case _:
            inner[path[-1]] = rng.choice(VALUES)


@pytest.mark.parametrize("run", ["chain", "panel", "gate", "caller"])
def test_garbled_files_are_refused_whole_or_can_be_shown(store: Path, tmp_path: Path, run: str) -> None:
    file, rng, taken = exported(store, run), random.Random(run), 0
    for number in range(60):
        folder = tmp_path / str(number)
        folder.mkdir()
        forged = json.loads(json.dumps(file))
        for _ in range(rng.choice((1, 1, 2))):
            change(forged, rng)
        if number % 3:
            with suppress(Exception):  # a journal that cannot be folded is one of the cases
                refold(forged)
        try:
            body = forge(forged)
        except (KeyError, TypeError, AttributeError, msgspec.MsgspecError):
            body = json.dumps(forged).encode()
        said = imported(body, folder)
        assert said.exit_code in (0, 2, 5), said.output
        told = json.loads(said.output)
        if said.exit_code:
            assert told["problem"] if "problem" in told else told["problems"]
            assert not (folder / "other.db").exists(), said.output
            continue
        taken += 1
        for verb in ("show", "explain", "events", "tokens", "context"):
            assert jeton(verb, told["run_id"], "--store", folder / "other.db", "--json").exit_code == 0
        assert jeton("ls", "--store", folder / "other.db").exit_code == 0
        assert verify(folder / "other.db").problems == ()
    assert taken < 60


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_is_refused(store: Path, tmp_path: Path, share: float) -> None:
    whole = forge(exported(store, "panel"))
    said = imported(whole[: int(len(whole) * share)], tmp_path)
    assert (said.exit_code, json.loads(said.output)["code"]) == (5, "not_a_run")
