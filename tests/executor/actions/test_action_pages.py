"""Every page about a kind of action has an example that runs, and gives what the page says."""

import json
import re
from pathlib import Path

import pytest
import yaml

import jeton
from jeton.executor import kind_names

PAGES = Path(__file__).parents[3] / "docs" / "actions"
EXAMPLE = re.compile(r"```yaml\n(.*?)```\n\nWith the input `(.*?)` the output is:\n\n```json\n(.*?)```", re.DOTALL)
BY_ITSELF = ("http", "mcp")  # their pages need a server; tests of their own look after them


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
async def test_the_example_of_a_page(page: Path, tmp_path: Path) -> None:
    if page.stem in BY_ITSELF:
        return
    found = EXAMPLE.search(page.read_text())
    assert found is not None, "there is no example"
    library, given, then = yaml.safe_load(found[1]), json.loads(found[2]), json.loads(found[3])
    (name,) = library["workflows"]
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library)
        record = await (await engine.start(name, given)).result()
    assert (record.status, record.output) == ("completed", then), record.error


def test_every_kind_has_its_page() -> None:
    built_in = {
        "python",
        "shell",
        "file",
        "artifact",
        "emit",
        "metric",
        "context",
        "assert",
        "fail",
        "memory",
        "mock",
        "http",
        "llm",
        "mcp",
        "signal",
    }
    assert built_in <= kind_names()
    assert {page.stem for page in PAGES.glob("*.md")} >= built_in
