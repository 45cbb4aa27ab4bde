"""`jeton init`: a small project that runs as it is."""

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.verbs import Verbs

JETON = str(Path(sys.executable).with_name("jeton"))


def test_the_project_checks_runs_and_tests(jeton: Verbs) -> None:
    folder = jeton.folder / "hello"
    made = jeton.json("init", str(folder))
    assert sorted(made["files"]) == sorted(each.name for each in folder.iterdir())
    assert {"README.md", "actions.py", "greeting.yaml", "test_greeting.py"} <= set(made["files"])
    commands = [
        line for line in (folder / "README.md").read_text().splitlines() if line.startswith(("jeton ", "python "))
    ]
    assert len(commands) >= 3
    for line in commands:
        words = line.replace("jeton ", f"{JETON} ", 1) if line.startswith("jeton") else f"{sys.executable}{line[6:]}"
        done = subprocess.run(words, shell=True, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, (line, done.stdout, done.stderr)


def test_what_is_there_is_not_overwritten(jeton: Verbs) -> None:
    folder = jeton.folder / "hello"
    folder.mkdir()
    (folder / "actions.py").write_text("mine")
    assert jeton.json("init", str(folder), exits=5)["code"] == "file_exists"
    assert [each.name for each in folder.iterdir()] == ["actions.py"]
    assert (folder / "actions.py").read_text() == "mine"


def test_version(jeton: Verbs) -> None:
    done = jeton("--version")
    assert done.exit_code == 0
    assert done.output.startswith("jeton ")


APP = """
import jeton

@jeton.action
def double_{number}(n: int) -> int:
    return n * 2

twice = jeton.Workflow("twice_{number}")
twice.node("a", action=double_{number}, input={{"n": "input.n"}}{more})
"""


def test_check_takes_a_python_file(jeton: Verbs) -> None:
    good, bad = jeton.folder / "good_app_1.py", jeton.folder / "bad_app_1.py"
    good.write_text(APP.format(number=1, more=""))
    bad.write_text(APP.format(number=2, more=', output={"output.x": "result +"}'))
    assert jeton.json("check", str(good)) == {"ok": True, "problems": []}
    found = jeton.json("check", str(good), str(bad), exits=2)
    assert [problem["code"] for problem in found["problems"]] == ["expression_invalid"]
    assert "twice_2" in json.dumps(found)
    assert jeton.json("check", str(jeton.folder / "none.py"), exits=3)["problems"][0]["code"] == "file_not_found"


def test_check_reports_what_a_python_file_raises_while_it_builds(jeton: Verbs) -> None:
    bad = jeton.folder / "bad_app_2.py"
    bad.write_text(APP.format(number=3, more="") + '\ntwice.node("a")\n')
    found = jeton.json("check", str(bad), exits=2)
    assert found["ok"] is False
    assert found["problems"]
