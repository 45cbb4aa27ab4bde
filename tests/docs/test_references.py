"""What the repository refers to is in the repository: links and anchors of pages, and the rules that code cites."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, anchors, links, pages

SEMANTICS = ROOT / "docs" / "semantics"
FOLDERS = ("src", "docs", "tests", "examples", "benchmarks", ".github")
ENDINGS = (".py", ".md", ".yaml", ".yml", ".toml", ".sql", ".json")
ELSEWHERE = re.compile(r"\bpages? \d|\.\./shared|\bP[1-9] \"|\bseed 00\d", re.IGNORECASE)
CITED = re.compile(r"(?<![\w/.-])(?:docs/semantics/)?([a-z-]+\.md)(?:#([\w-]+))?")


def texts() -> Iterator[Path]:
    """Every text that people wrote, this file left out, because it has to name what it looks for."""
    below = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    for path in (*below, *ROOT.glob("*.md"), ROOT / "Makefile", ROOT / "pyproject.toml"):
        if path.is_file() and (path.suffix in ENDINGS or path.name == "Makefile") and path != Path(__file__):
            yield path


@cache
def anchors_of(page: Path) -> set[str]:
    return anchors(page.read_text())


def broken_links(page: Path) -> Iterator[str]:
    """Links of a page that lead nowhere."""
    for link in links(page.read_text()):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            yield f"{link}: there is no such file"
        elif anchor and (target.suffix != ".md" or anchor not in anchors_of(target)):
            yield f"{link}: there is no such heading"


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert list(broken_links(page)) == []


def test_nothing_refers_to_a_text_that_is_elsewhere() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in texts()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if ELSEWHERE.search(line)
    ]
    assert found == []


def test_rules_that_code_cites_are_there() -> None:
    rules = {page.name for page in SEMANTICS.glob("*.md")}
    wrong: list[str] = []
    cited: set[str] = set()
    for path in texts():
        if path.suffix != ".py":
            continue
        for found in CITED.finditer(path.read_text()):
            name, anchor = found.groups()
            if name not in rules or (anchor is None and not found[0].startswith("docs/semantics/")):
                continue
            cited.add(name)
            if anchor is not None and anchor not in anchors_of(SEMANTICS / name):
                wrong.append(f"{path.relative_to(ROOT)}: {found[0]}")
    assert wrong == []
    assert cited, "nothing cites a rule"


def test_every_page_is_in_the_index() -> None:
    docs = ROOT / "docs"
    linked = {(docs / link.partition("#")[0]).resolve() for link in links((docs / "README.md").read_text())}
    apart = ("actions", "adr", "semantics")  # these folders have an index of their own
    listed = {page for page in docs.rglob("*.md") if page.relative_to(docs).parts[0] not in apart}
    listed -= {docs / "README.md"}
    assert sorted(str(page.relative_to(docs)) for page in listed - linked) == []


def test_every_rule_page_is_in_the_index() -> None:
    index = (SEMANTICS / "README.md").read_text()
    missing = [
        page.name for page in SEMANTICS.glob("*.md") if page.name != "README.md" and f"]({page.name})" not in index
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("## Two kinds of retry", {"two-kinds-of-retry"}, id="words are joined"),
        pytest.param("## `emit`, and more", {"emit-and-more"}, id="signs are left out"),
        pytest.param("# A\n\n## A", {"a", "a-1"}, id="a second heading has a number"),
        pytest.param("```\n# no heading\n```", set[str](), id="code has no headings"),
    ],
)
def test_anchors_are_those_of_github(text: str, found: set[str]) -> None:
    assert anchors(text) == found


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Here\n[a](#here) [b](#gone) [c](missing.md) [d](https://example.org) `[e](nowhere)`\n")
    assert [each.partition(":")[0] for each in broken_links(page)] == ["#gone", "missing.md"]
