"""The commands of docs/how-to/retention.md run. Its script is run with those of the other pages."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import jeton
from jeton.cli.main import main
from tests.docs.markdown import ROOT, block

PAGE = (ROOT / "docs" / "how-to" / "retention.md").read_text()


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
