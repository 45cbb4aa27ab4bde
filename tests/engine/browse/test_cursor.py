"""Cursors name a place, of their own list only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.engine.browse.cursor import cursor_of, place_in
from jeton.model.failure import Refused


@given(st.integers(0, 2**53), st.text(max_size=40))
def test_a_place_comes_back(at: int, name: str) -> None:
    cursor = cursor_of("runs", (at, name))
    assert place_in(cursor, "runs", tuple[int, str]) == (at, name)
    assert cursor.isascii()
    assert not set(cursor) & set("&=+/?#%")


@given(st.text(max_size=30) | st.binary(max_size=30).map(lambda raw: raw.decode("latin-1")))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(Refused) as refused:
        place_in(text, "runs", tuple[int, str])
    assert refused.value.code == "bad_cursor"


@pytest.mark.parametrize("cursor", [cursor_of("firings", 3), cursor_of("runs", ["x", 1]), "A" * 1000])
def test_a_cursor_of_another_list_is_refused(cursor: str) -> None:
    with pytest.raises(Refused):
        place_in(cursor, "runs", tuple[int, str])
