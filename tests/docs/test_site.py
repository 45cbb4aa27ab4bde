"""The site: every page is in its navigation, every link leads to one, and no other host is asked for anything."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, links
from tools.site import LANGUAGES, PAGES, follow, place_of, prepare, sources

NAVIGATION = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
ASKED_FOR = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)""")


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r"[\w./-]+\.md", NAVIGATION))
    there = {place_of(path) for path in sources() if path.suffix == ".md" and (ROOT / path).exists()}
    assert sorted(there - listed) == []
    assert sorted(listed - there) == []


def test_code_is_shown_as_code() -> None:
    unknown = {
        path.name for path in sources() if path.suffix not in {*LANGUAGES, ".md", ".png", ".svg", ".txt", ".csv"}
    }
    assert unknown == set()


@pytest.mark.parametrize(
    ("link", "followed"),
    [
        pytest.param("[a](../semantics/agents.md#turns)", "[a](../semantics/agents.md#turns)", id="beside it"),
        pytest.param("[a](../../examples/loop.yaml)", "[a](../examples/loop.yaml.md)", id="code has a page"),
        pytest.param("[a](../../examples/saga)", "[a](../examples/saga/README.md)", id="a folder is its README"),
        pytest.param("[a](../../src/jeton/plugins.py)", "a", id="what the site does not have is only named"),
        pytest.param("`[a](../../src/x.py)`", "`[a](../../src/x.py)`", id="code stays"),
        pytest.param("[a](https://example.org)", "[a](https://example.org)", id="elsewhere"),
    ],
)
def test_links_follow(link: str, followed: str) -> None:
    known = {path.as_posix(): place_of(path) for path in sources()}
    assert follow(link, Path("docs/how-to/gates.md"), known) == followed


def test_links_of_the_prepared_pages_lead_to_pages(tmp_path: Path) -> None:
    prepare(tmp_path)

    def broken() -> Iterator[str]:
        for page in tmp_path.rglob("*.md"):
            for link in links(page.read_text()):
                target = link.partition("#")[0]
                if target and not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
                    yield f"{page.relative_to(tmp_path)}: {link}"

    assert list(broken()) == []


@pytest.mark.long
def test_the_site_is_built_and_asks_nobody_for_anything(tmp_path: Path) -> None:
    prepare(PAGES)
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 100
    assert {found for page in pages for found in ASKED_FOR.findall(page.read_text())} == set()
    assert (tmp_path / "search" / "search_index.json").exists()
