"""Sets of numbers as ranges."""

from hypothesis import given
from hypothesis import strategies as st

from jeton.model.state.ranges import count_in, cut_out, joined, numbers_in, numbers_outside, to_ranges

NUMBERS = st.lists(st.integers(0, 60))


@given(NUMBERS)
def test_ranges_hold_the_numbers_they_were_made_of(numbers: list[int]) -> None:
    ranges = to_ranges(numbers)
    assert list(numbers_in(ranges)) == sorted(set(numbers))
    assert count_in(ranges) == len(set(numbers))


@given(NUMBERS, NUMBERS)
def test_joining_in_any_order_is_the_same_as_making_them_at_once(first: list[int], then: list[int]) -> None:
    assert joined(to_ranges(first), then) == to_ranges([*first, *then])


@given(NUMBERS, st.integers(0, 80))
def test_what_is_outside_is_all_the_rest(numbers: list[int], size: int) -> None:
    assert list(numbers_outside(to_ranges(numbers), size)) == [each for each in range(size) if each not in numbers]


@given(NUMBERS, st.integers(0, 60), st.integers(0, 30))
def test_a_part_is_counted_from_its_beginning(numbers: list[int], first: int, size: int) -> None:
    cut = cut_out(to_ranges(numbers), first, size)
    assert cut == to_ranges(each - first for each in numbers if first <= each < first + size)
