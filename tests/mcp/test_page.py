"""The example of docs/how-to/mcp.md, as a reader would try it."""

import re
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import yaml
from mcp import Client

from jeton.definitions import library_from
from jeton.engine.build.source import KINDS
from tests.mcp.test_server import process

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "mcp.md").read_text()


def block(language: str, after: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE.partition(after)[2], re.DOTALL)
    assert found is not None
    return found[1]


async def test_the_example_runs(tmp_path: Path) -> None:
    (tmp_path / "notes_server.py").write_text(block("python", "## A small example"))
    written = block("yaml", "## A small example").replace("[python,", f"[{sys.executable},")
    (tmp_path / "library.yaml").write_text(written)

    async def allows(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert params.message == "Show 'tea'?"
        return types.ElicitResult(action="accept", content={"ok": True})

    async with Client(process(tmp_path, "--file", "library.yaml"), elicitation_callback=allows) as client:
        shown = await client.call_tool("look_up", {"title": "tea"})
    assert shown.structured_content == {"text": "Two minutes, not three."}


def test_the_settings_of_the_page_are_right(tmp_path: Path) -> None:
    loaded = library_from(yaml.safe_load(block("yaml", "## Calling tools")), kinds=KINDS)
    assert loaded.problems == ()
