"""Every example does what it says it does: its own text has the command and what comes of it."""

import ast
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

import jeton
from jeton.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"
DEMO = {
    "demo.py",
    "demo.yaml",
    "demo_refund.py",
    "demo_page.py",
    "demo_page.yaml",
}  # long, and different each time: they have tests of their own


def examples(kind: str) -> list[Path]:
    return sorted(path for path in EXAMPLES.glob(f"*.{kind}") if path.name not in DEMO)


def said(text: str, title: str) -> str:
    """What a comment says behind `Run:` or `Output:`."""
    found = re.search(rf"^#\s+{title}:\s+(.*)$", text, re.MULTILINE)
    assert found is not None, f"no line '{title}:'"
    return found[1]


@pytest.mark.parametrize("file", examples("yaml"), ids=lambda path: path.stem)
def test_a_library_file(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    text = file.read_text()
    _, *args = shlex.split(said(text, "Run"))
    assert args[1] == f"examples/{file.name}"
    done = CliRunner().invoke(main, [*args, "--json", "--store", str(tmp_path / "runs.db")])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["output"] == json.loads(said(text, "Output"))


@pytest.mark.parametrize("file", examples("yaml"), ids=lambda path: path.stem)
def test_a_library_file_has_no_problems(file: Path) -> None:
    assert CliRunner().invoke(main, ["check", str(file)]).output == "no problems\n"


@pytest.mark.parametrize("file", examples("py"), ids=lambda path: path.stem)
def test_a_script(file: Path, tmp_path: Path) -> None:
    doc = ast.get_docstring(ast.parse(file.read_text()), clean=True) or ""
    _, _, prints = doc.partition("Prints:\n")
    done = subprocess.run([sys.executable, str(file)], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == dedent(prints).strip()
    assert not list(tmp_path.iterdir()), "it leaves nothing behind"


def test_the_demo_is_killed_and_finishes() -> None:
    demo = [sys.executable, str(EXAMPLES / "demo.py")]
    done = subprocess.run(demo, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert re.search(r"killed with kill -9, after [2-4] votes", done.stdout)
    assert done.stdout.count("run.completed") == 1
    assert re.search(r"given out again: [1-9]", done.stdout)


def test_the_refund_is_paid_once_although_the_process_is_killed_twice() -> None:
    demo = [sys.executable, str(EXAMPLES / "demo_refund.py")]
    done = subprocess.run(demo, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("killed with kill -9") == 2
    asks, approves, shows = [
        done.stdout.index(each) for each in ("waits for approval", "$ jeton answer", "$ jeton show")
    ]
    assert asks < approves < shows
    assert done.stdout.index("Done: 20 for A-17 are on their way to you.") > shows
    assert "the bank was asked 2 times, and paid 1 time" in done.stdout


def test_the_demo_of_the_page_serves_something_of_each_kind() -> None:
    demo = [sys.executable, str(EXAMPLES / "demo_page.py"), "--no-open", "--many", "300"]
    with subprocess.Popen(demo, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [line.rstrip() for line in iter(process.stdout.readline, "Ctrl-C ends it\n")]
        found = re.fullmatch(r"all runs +(http://127\.0\.0\.1:\d+)/#key=(jtn_\w+)&to=/runs", lines[0])
        assert found is not None, lines
        with jeton.connect_sync(found[1], key=found[2]) as engine:
            workflows = {run.workflow for run in engine.list()}
            (jury,) = engine.list(workflow="jury")
            ended = engine.run(jury.run_id).result(60)
            gates = {gate.title: gate.answered_by for gate in engine.gates()}
        process.terminate()
    assert workflows >= {"enrich", "launch", "jury", "order", "charge"}
    assert ended.error is not None
    assert ended.error.type == "quorum_impossible"
    assert gates == {"Launch on Friday?": ("ada",), "Refund 20 for A-17?": ()}
    assert len(lines) == 6
