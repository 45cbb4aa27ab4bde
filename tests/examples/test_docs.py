"""What these pages of docs/how-to show is run."""

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

import jeton

DOCS = Path(__file__).parents[2] / "docs" / "how-to"
PAGES = {"triggers": "orders.yaml", "credits": "review.yaml"}


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / f"{page}.md").read_text(), re.DOTALL)


EXAMPLES = [
    pytest.param(page, number, id=f"{page} {number + 1}")
    for page in PAGES
    for number in range(len(blocks(page, "text")))
]


@pytest.mark.parametrize(("page", "number"), EXAMPLES)
async def test_the_example_prints_what_the_page_says(
    page: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(PAGES[page]).write_text(blocks(page, "yaml")[number])
    names: dict[str, Any] = {"jeton": jeton}
    code = "async def main():\n" + textwrap.indent(blocks(page, "python")[number], "    ")
    exec(compile(code, f"{page}.md", "exec"), names)
    await names["main"]()
    assert capsys.readouterr().out == blocks(page, "text")[number]
