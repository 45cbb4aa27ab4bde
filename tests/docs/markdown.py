"""Markdown as these tests read it: its headings as anchors, its links, its blocks of code."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")


def pages() -> list[Path]:
    """Every Markdown file of the repository."""
    top = [*ROOT.glob("*.md"), *(ROOT / ".github").rglob("*.md")]
    return sorted([*top, *(page for folder in ("docs", "examples", "tests") for page in (ROOT / folder).rglob("*.md"))])


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    found: set[str] = set()
    for heading in _HEADING.findall(_FENCE.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number, anchor = 0, slug
        while anchor in found:
            number += 1
            anchor = f"{slug}-{number}"
        found.add(anchor)
    return found


def links(text: str) -> Iterator[str]:
    """Where the links of a page lead, those in code left out."""
    return iter(_LINK.findall(re.sub(r"`[^`\n]*`", "", _FENCE.sub("", text))))


def block(text: str, language: str, number: int = 0) -> str:
    """A block of code, by its language and its place among those."""
    found = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    assert len(found) > number, f"there is no {language} block number {number}"
    return str(found[number])
