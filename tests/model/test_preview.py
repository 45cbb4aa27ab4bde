"""Values that are too large, as previews."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from jeton.model.json import Json
from jeton.model.preview import encoded, fitted

VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
)


@given(VALUES, st.integers(150, 400))
def test_a_value_that_fits_stays_and_another_is_a_preview_that_fits(value: Json, most: int) -> None:
    shown = fitted(value, most)
    assert len(msgspec.json.encode(shown)) <= most
    if shown is not value:
        assert isinstance(shown, dict)
        assert isinstance(shown["preview"], str)
        assert encoded(value).startswith(shown["preview"].encode())
        assert shown["size"] == len(encoded(value))


def test_a_preview_says_where_the_whole_is() -> None:
    assert fitted("x" * 500, 100, {"run_id": "r"}) == {
        "too_large": True,
        "size": 500,
        "run_id": "r",
        "preview": "x" * 25,
    }
