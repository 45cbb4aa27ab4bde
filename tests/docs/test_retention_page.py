"""The examples of docs/retention.md run."""

import re
import shlex
import textwrap
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import jeton
from jeton.cli.main import main
from tests.docs.markdown import ROOT, block

PAGE = (ROOT / "docs" / "retention.md").read_text()


def numberless(text: str) -> str:
    return re.sub(r"\d+", "N", text)


def test_the_commands_print_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for how many runs there are."""
    monkeypatch.chdir(tmp_path)
    with jeton.open_sync("jeton.db") as engine:
        engine.deploy({"workflows": {"w": {"initial_node": "n", "nodes": {"n": {}}}}})
    parts = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block(PAGE, "console"), re.MULTILINE)
    assert parts
    for command, printed in parts:
        done = CliRunner().invoke(main, shlex.split(command)[1:])
        assert (done.exit_code, numberless(done.stdout)) == (0, numberless(printed)), command


async def test_the_python_example_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(f"async def main(engine):\n{textwrap.indent(block(PAGE, 'python'), '    ')}", names)
    async with jeton.open(tmp_path / "store.db") as engine:
        await names["main"](engine)
    assert capsys.readouterr().out == "0\n"
