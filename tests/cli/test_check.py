"""`jeton check`: what it prints, and how it exits."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from jeton.cli.main import main

SOUND = "workflows: {w: {initial_node: a, nodes: {a: {}}}}\n"
WARNED = "workflows: {w: {initial_node: a, nodes: {a: {}}, transitions: [{from: a, to: a}]}}\n"
BROKEN = "workflows:\n  w: {initial_node: a, nodes: {a: {taks: x}}}\n"


def write(folder: Path, name: str, text: str) -> str:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return str(file)


def check(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["check", *arguments])
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param(SOUND, 0, id="a sound file"),
        pytest.param(WARNED, 0, id="a warning"),
        pytest.param(BROKEN, 2, id="an error"),
        pytest.param("a: [", 2, id="no YAML"),
    ],
)
def test_the_exit_code_says_whether_it_can_be_deployed(text: str, code: int, tmp_path: Path) -> None:
    assert check(write(tmp_path, "a.yaml", text))[0] == code
    assert check(write(tmp_path, "a.yaml", text), "--json")[0] == code


def test_a_missing_file_exits_with_3_and_the_others_are_checked(tmp_path: Path) -> None:
    code, output = check(str(tmp_path / "nope.yaml"), write(tmp_path, "a.yaml", BROKEN))
    assert code == 3
    assert "nope.yaml: error file_not_found" in output
    assert "unknown_key" in output


def test_bad_usage_exits_with_2() -> None:
    assert check()[0] == 2
    assert check("--nope")[0] == 2


def test_every_verb_takes_a_store(tmp_path: Path) -> None:
    assert check(write(tmp_path, "a.yaml", SOUND), "--store", "x.db")[0] == 0


def test_machines_get_one_object_with_exactly_these_keys(tmp_path: Path) -> None:
    file = write(tmp_path, "a.yaml", BROKEN)
    assert json.loads(check(file, "--json")[1]) == {
        "ok": False,
        "problems": [
            {
                "severity": "error",
                "code": "unknown_key",
                "file": file,
                "line": 2,
                "path": "workflows.w.nodes.a.taks",
                "problem": "'taks' is not a key of a node",
                "remedy": "write 'task', or remove it",
            }
        ],
    }


@pytest.mark.parametrize(
    ("text", "ok", "count"),
    [
        pytest.param(SOUND, True, 0, id="nothing to say"),
        pytest.param(WARNED, True, 1, id="warnings do not stop it"),
        pytest.param(BROKEN, False, 1, id="errors do"),
    ],
)
def test_machines_are_told_whether_it_can_be_deployed(text: str, ok: bool, count: int, tmp_path: Path) -> None:
    found = json.loads(check(write(tmp_path, "a.yaml", text), "--json")[1])
    assert (found["ok"], len(found["problems"])) == (ok, count)


def test_people_get_lines_and_a_sum(tmp_path: Path) -> None:
    file = write(tmp_path, "a.yaml", BROKEN)
    assert check(file)[1].splitlines() == [
        f"{file}:2: error unknown_key workflows.w.nodes.a.taks: 'taks' is not a key of a node",
        "    write 'task', or remove it",
        "1 error",
    ]
    assert check(write(tmp_path, "a.yaml", SOUND))[1] == "no problems\n"
    assert check(write(tmp_path, "a.yaml", WARNED))[1].splitlines()[-1] == "1 warning"


def test_colour_is_for_terminals_that_want_it(tmp_path: Path) -> None:
    file = write(tmp_path, "a.yaml", BROKEN)
    runner = CliRunner()
    assert "\x1b[" in runner.invoke(main, ["check", file], color=True).output
    assert "\x1b[" not in runner.invoke(main, ["check", file], color=True, env={"NO_COLOR": "1"}).output
    assert "\x1b[" not in runner.invoke(main, ["check", file]).output


def test_a_verb_misspelt_is_suggested() -> None:
    done = CliRunner().invoke(main, ["chek"])
    assert done.exit_code == 2
    assert "did you mean 'check'?" in done.output


def test_help_lists_the_verbs() -> None:
    done = CliRunner().invoke(main, ["--help"])
    assert done.exit_code == 0
    assert "Report every problem in definition files." in done.output


SERVERS = {"uvicorn", "httptools", "websockets", "prometheus_client", "starlette"}


@pytest.mark.parametrize("verb", ["act.run", "act.resume", "look.ls", "serve.keys"])
def test_only_serve_imports_a_server(verb: str) -> None:
    program = f"import sys, jeton.cli.verbs.{verb}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert f"jeton.cli.verbs.{verb}" in loaded
    assert SERVERS & set(loaded) == set()


@pytest.mark.parametrize("argument", ["--help", "chek"])
def test_help_and_a_misspelt_verb_import_nothing_they_do_not_need(argument: str) -> None:
    program = (
        "import sys; from jeton.cli.main import main\n"
        f"try: main(['{argument}'])\n"
        "except SystemExit: print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "jeton.cli.main" in loaded
    heavy = {
        "jeton.definitions",
        "jeton.model",
        "jeton.expression",
        "jeton.cli.verbs.define.check",
        "msgspec",
        "yaml",
        "jsonschema_rs",
        *SERVERS,
    }
    assert {name for name in loaded if name in heavy or "cel" in name.split("_")} == set()


def _cpu_seconds(*arguments: str) -> float:
    """Of the fastest of a few runs, which is the one that was least disturbed."""
    fastest = float("inf")
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        fastest = min(fastest, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return fastest


def test_help_costs_at_most_ten_bare_starts_of_python() -> None:
    assert _cpu_seconds("-m", "jeton.cli.main", "--help") <= 10 * _cpu_seconds("-c", "pass")


def test_an_app_brings_its_actions_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("checked_app.py").write_text(
        "import jeton\n\n@jeton.action\nasync def checked(x: int) -> int:\n    return x\n"
    )
    Path("w.yaml").write_text("workflows: {w: {initial_node: a, nodes: {a: {action: checked}}}}")
    done = subprocess.run(
        [sys.executable, "-m", "jeton.cli.main", "check", "w.yaml", "--app", "checked_app.py"], capture_output=True
    )
    assert done.returncode == 0, done.stdout
