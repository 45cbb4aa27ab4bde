"""The text of a position: what was given is taken back, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.engine.look.position import START, Position, position_in
from jeton.model.failure import Refused

POSITIONS = st.builds(Position, st.integers(1, 1 << 52), st.integers(0, 1 << 40))


@given(POSITIONS)
def test_a_text_stands_for_its_position(position: Position) -> None:
    assert position_in(str(position)) == position


@given(POSITIONS, st.data())
def test_a_text_that_was_altered_is_refused(position: Position, data: st.DataObject) -> None:
    text = str(position)
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from("0123456789abcdefp- ").filter(lambda mark: mark != text[place]))
    for altered in (text[:place] + other + text[place + 1 :], text[:place] + text[place + 1 :], text + other):
        with pytest.raises(Refused) as refused:
            position_in(altered)
        assert refused.value.code == "bad_cursor"


@pytest.mark.parametrize(
    "text", ["", "0", "17", "head", "p1", "p1-0", str(Position(0)), str(START).upper(), f" {START}", None, 1, b"p1-0"]
)
def test_what_is_no_position_is_refused(text: object) -> None:
    with pytest.raises(Refused) as refused:
        position_in(text)
    assert refused.value.code == "bad_cursor"


def test_positions_are_in_order() -> None:
    assert sorted([Position(2), Position(1, 3), Position(1), Position(10)]) == [
        Position(1),
        Position(1, 3),
        Position(2),
        Position(10),
    ]
