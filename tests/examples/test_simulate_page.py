"""The example of docs/how-to/simulate.md prints what the page says it prints."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from jeton.cli.main import main
from jeton.cli.options import Exit

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "simulate.md").read_text()


def shown(pattern: str) -> re.Match[str]:
    found = re.search(pattern, PAGE, re.DOTALL)
    assert found is not None, "there is no example"
    return found


def test_the_example_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quote.yaml").write_text(shown(r"```yaml\n(.*?)```")[1])
    asked, said = shown(r"```console\n\$ (.*?)\n(.*?)```").groups()
    done = CliRunner().invoke(main, shlex.split(asked)[1:])
    assert done.stdout == said
    assert done.exit_code == Exit.RUN_FAILED


def test_the_remedy_of_the_page(tmp_path: Path) -> None:
    file = tmp_path / "quote.yaml"
    file.write_text(shown(r"```yaml\n(.*?)```")[1].replace("strategy: any", "strategy: all"))
    done = CliRunner().invoke(main, ["simulate", str(file), "--faults"])
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (Exit.DONE, "100 seeds, one outcome")


def test_the_tests_of_the_page(tmp_path: Path) -> None:
    first, second = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[:2]
    (tmp_path / "test_order.py").write_text(first + second)
    pytest_here = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_order.py"]
    done = subprocess.run(pytest_here, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "4 passed" in done.stdout, done.stdout


def test_the_failures_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    asked, said = shown(r"## Failures.*?```console\n\$ (.*?)\n(.*?)```").groups()
    done = CliRunner().invoke(main, shlex.split(asked)[1:])
    assert (done.exit_code, done.stdout) == (Exit.DONE, said)


def test_the_script_of_the_page(tmp_path: Path) -> None:
    code, said = shown(r".*```python\n(.*?)```\n\n```text\n(.*?)```").groups()
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (said, "")
    assert list(tmp_path.iterdir()) == [], "nothing is stored"
