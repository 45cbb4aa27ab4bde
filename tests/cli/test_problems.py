"""What goes wrong outside of jeton is reported as a problem, and never as a traceback."""

import errno
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from jeton.cli.output import echo, echo_json, reporting_errors
from tests.cli.verbs import Verbs

JETON = str(Path(sys.executable).with_name("jeton"))
BAD = "a\u202eb\u2066c\x9b31md\u200fe"


def cut(jeton: Verbs, size: int) -> None:
    jeton.run("double", "--input", '{"n": 1}')
    os.truncate(jeton.store, size)


@pytest.mark.parametrize("size", [100, 4096, 20_000])
@pytest.mark.parametrize("verb", [("ls",), ("show", "x"), ("gates",), ("resume",), ("backup", "copy.db")])
def test_a_store_that_was_cut_is_a_problem(jeton: Verbs, verb: tuple[str, ...], size: int) -> None:
    cut(jeton, size)
    found = jeton.json(*verb, exits=5)
    assert found["code"] in ("store_damaged", "not_a_store")
    assert found["remedy"]
    shown = jeton(*verb)
    assert shown.exit_code == 5
    assert "Traceback" not in shown.output


def test_verify_reports_a_store_that_was_cut(jeton: Verbs) -> None:
    cut(jeton, 4096)
    found = jeton.json("verify", exits=1)
    assert (found["ok"], len(found["problems"])) == (False, 1)
    assert "malformed" in found["problems"][0]["problem"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(apsw.CorruptError("malformed"), "store_damaged", id="a damaged file"),
        pytest.param(apsw.NotADBError("no database"), "store_damaged", id="another file"),
        pytest.param(apsw.FullError("full"), "store_full", id="a full disk"),
        pytest.param(apsw.IOError("disk I/O error"), "store_failed", id="any other error of SQLite"),
        pytest.param(OSError(errno.EMFILE, "Too many open files"), "too_many_files", id="too many files"),
        pytest.param(PermissionError(errno.EACCES, "Permission denied", "x"), "os_error", id="no permission"),
    ],
)
def test_errors_from_below_are_problems(error: Exception, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited, reporting_errors(True):
        raise error
    assert exited.value.code == 5
    found = json.loads(capsys.readouterr().out)
    assert found["code"] == code
    assert found["remedy"]


@pytest.mark.parametrize("files", [8, 11])
def test_a_limit_on_files_is_named(jeton: Verbs, files: int) -> None:
    args = [JETON, "run", str(jeton.library), "double", "--input", '{"n": 1}', "--store", str(jeton.store), "--json"]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    done = subprocess.run(args, capture_output=True, text=True, timeout=60, check=False, preexec_fn=limit)
    assert done.returncode == 5, done.stderr
    found = json.loads(done.stdout)
    assert f"this process may open only {files} files" in found["remedy"]
    assert "Traceback" not in done.stderr


def test_an_input_file_is_bounded(jeton: Verbs) -> None:
    done = jeton("run", str(jeton.library), "double", "--input", "@/dev/zero")
    assert done.exit_code == 2
    assert "is larger than" in done.output
    found = jeton.json("run", str(jeton.library), "double", "--input", "@/dev/zero", exits=2)
    assert (found["code"], "/dev/zero is larger than 64 MB" in found["problem"]) == ("bad_argument", True)


def test_a_large_value_is_cut_for_people_and_whole_for_machines(jeton: Verbs) -> None:
    text = "x" * 10_000
    library: dict[str, Any] = {"workflows": {"echo": {"initial_node": "a", "nodes": {"a": {}}}}}
    jeton.library.write_text(json.dumps(library))
    run = jeton.json("run", str(jeton.library), "--input", json.dumps({"text": text}))["run_id"]
    shown = jeton("events", run).stdout
    assert max(len(line) for line in shown.splitlines()) < 2_200
    assert "more characters; --json has all" in shown
    assert jeton.json("events", run)["events"][0]["input"] == {"text": text}


@pytest.mark.parametrize("print_it", [echo, echo_json], ids=["text", "json"])
def test_no_control_or_bidi_character_is_printed(print_it: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(print_it)
    print_it(BAD)
    out = capsys.readouterr().out
    assert out.strip("\n").isprintable()
    assert out.isascii()


def test_json_with_escaped_characters_is_the_same_value(capsys: pytest.CaptureFixture[str]) -> None:
    echo_json({"x": BAD})
    assert json.loads(capsys.readouterr().out) == {"x": BAD}


def test_no_verb_prints_what_a_definition_smuggles_in(jeton: Verbs) -> None:
    bad = {"workflows": {"w": {"initial_node": BAD, "nodes": {BAD: {"nope": BAD}, "b": {"action": BAD}}}}}
    jeton.library.write_text(json.dumps(bad))
    for verb in (("check",), ("run",)):
        shown = jeton(*verb, str(jeton.library)).output
        assert all(line.isprintable() for line in shown.split("\n")), shown
