"""The pages of docs/reference are those that the code makes: nothing is missing, and nothing is dead."""

from collections.abc import Callable

import pytest

from tests.docs.key_meanings import MEANINGS
from tests.docs.reference_pages import KEYS, PAGES, REFERENCE


@pytest.mark.parametrize(("file", "page"), PAGES.items(), ids=PAGES)
def test_a_page_is_up_to_date(file: str, page: Callable[[], str]) -> None:
    assert (REFERENCE / file).read_text(encoding="utf-8") == page(), "run make docs"


@pytest.mark.parametrize("part", KEYS)
def test_every_meaning_is_that_of_a_key(part: str) -> None:
    assert sorted(set(MEANINGS[part]) - set(KEYS[part])) == []


def test_every_part_that_has_meanings_has_keys() -> None:
    assert set(MEANINGS) == set(KEYS)
