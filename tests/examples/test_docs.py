"""What the pages in docs/ show is run."""

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

import jeton

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"triggers": "orders.yaml", "credits": "review.yaml"}


def block(page: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", (DOCS / f"{page}.md").read_text(), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("page", PAGES)
async def test_the_example_prints_what_the_page_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(PAGES[page]).write_text(block(page, "yaml"))
    names: dict[str, Any] = {"jeton": jeton}
    code = "async def main():\n" + textwrap.indent(block(page, "python"), "    ")
    exec(compile(code, f"{page}.md", "exec"), names)
    await names["main"]()
    assert capsys.readouterr().out == block(page, "text")
