"""What docs/how-to/testing-agents.md shows is run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from jeton.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "testing-agents.md").read_text()
ASYNC = ("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def without_ids(text: str) -> str:
    """The text with all ids that are drawn made the same. Those of conversations with a key are not drawn."""
    return re.sub(r"\b1[0-9a-z]{19}\b", "ID", text)


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JETON_STORE", raising=False)
    Path("shop.yaml").write_text(blocks("yaml")[0])


def test_the_tests_of_the_page_pass() -> None:
    Path("test_shop.py").write_text(blocks("python")[0])
    pytest_here = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *ASYNC, "test_shop.py"]
    done = subprocess.run(pytest_here, capture_output=True, text=True, check=False)
    assert "2 passed" in done.stdout, done.stdout


def test_the_commands_of_the_page_print_what_it_says() -> None:
    shown = "".join(blocks("console"))
    printed = ""
    for line in (line for line in shown.splitlines() if line.startswith("$ jeton ")):
        done = CliRunner().invoke(main, shlex.split(line)[2:])
        printed += f"{line}\n{done.output.rstrip()}\n"
    assert without_ids(printed) == without_ids(shown)
    (recorded,) = Path().glob("monday.json")
    assert CliRunner().invoke(main, ["check", "shop.yaml", str(recorded)]).output == "no problems\n"
