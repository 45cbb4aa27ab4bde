"""Files and folders that the design pages name are there, and the map of folders is complete."""

import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT

SOURCE = ROOT / "src" / "jeton"
PAGES = [ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md"]
MAP = PAGES[0]
PATH = re.compile(r"`([a-z_.]+(?:/[a-z_.]+)+)`")


def named_in(page: Path) -> set[str]:
    """Paths in inline code. One with a place holder, which is in capitals, is none."""
    return set(PATH.findall(page.read_text()))


def exists(path: str) -> bool:
    """From the root of the repository, or below the package."""
    return (ROOT / path).exists() or (SOURCE / path).exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_lead_somewhere(page: Path) -> None:
    named = named_in(page)
    assert named, "the page names no file"
    assert sorted(path for path in named if not exists(path)) == []


def test_every_folder_is_on_the_map() -> None:
    table = MAP.read_text().partition("## Folders")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z_/]+)`", table))
    folders = {str(each.parent.relative_to(SOURCE)) for each in SOURCE.rglob("__init__.py")} - {
        ".",
        "hosts",
        "cli/verbs",
    }
    assert sorted(folders - named) == []
    assert sorted(each for each in named if not (SOURCE / each).is_dir()) == []
