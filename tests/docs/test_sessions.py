"""What a page shows at a terminal is what a reader sees there."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT
from tests.docs.session import BLOCK, Session, play, screen, settled

DOCS = ROOT / "docs"
TUTORIAL = sorted((DOCS / "tutorial").glob("[1-9]*.md"))
ALONE = sorted(
    page
    for folder in ("how-to", "concepts", "coming-from")
    for page in (DOCS / folder).glob("*.md")
    if any(title for _, title, _ in BLOCK.findall(page.read_text()))
)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    opened = Session(tmp_path, Path(sys.executable).parent)
    yield opened
    opened.close()


@pytest.mark.long
def test_the_tutorial(session: Session) -> None:
    assert len(TUTORIAL) == 5
    for page in TUTORIAL:
        _, ran = play(page.read_text(), session)
        for each in ran:
            assert settled(each.printed) == settled(each.shown), f"{page.name}: {each.command}"


@pytest.mark.parametrize("page", ALONE, ids=lambda page: page.stem)
def test_a_page(page: Path, session: Session) -> None:
    _, ran = play(page.read_text(), session)
    assert ran, "the page has files, and nothing is done with them"
    for each in ran:
        assert settled(each.printed) == settled(each.shown), each.command


def test_a_screen_shows_what_was_written_last() -> None:
    assert screen("a\r\nb\r\n\x1b[1A\x1b[2Kc\x1b[32m!\x1b[0m\r\n") == "a\nc!"


def test_what_is_drawn_or_measured_is_not_compared() -> None:
    first = settled("1m7q72r8r1ah3aktb5by  completed 2026-11-18 11:36:10   3.8 s ")
    assert first == settled("1m7q72r8r1ah3aktb5bz  completed 2026-12-18 11:36:10  13.8 s")
    assert first != settled("1m7q72r8r1ah3aktb5by  failed 2026-11-18 11:36:10   3.8 s")
