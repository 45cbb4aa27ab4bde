"""Sets of numbers as ranges."""

from hypothesis import given
from hypothesis import strategies as st

from jeton.model.state.ranges import count_in, joined, numbers_in, to_ranges

NUMBERS = st.lists(st.integers(0, 60))


@given(NUMBERS)
def test_ranges_hold_the_numbers_they_were_made_of(numbers: list[int]) -> None:
    ranges = to_ranges(numbers)
    assert list(numbers_in(ranges)) == sorted(set(numbers))
    assert count_in(ranges) == len(set(numbers))


@given(NUMBERS, NUMBERS)
def test_joining_in_any_order_is_the_same_as_making_them_at_once(first: list[int], then: list[int]) -> None:
    assert joined(to_ranges(first), then) == to_ranges([*first, *then])
