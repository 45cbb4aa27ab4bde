"""Sets of numbers as ranges: a hundred thousand neighbours take the room of one."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Inclusive, ascending, disjoint: ((0, 41), (43, 99))."""


def to_ranges(numbers: Iterable[int]) -> Ranges:
    """Fold numbers, in any order, into ranges."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and found[-1][1] + 1 >= number:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return tuple(found)


def numbers_in(ranges: Ranges) -> Iterator[int]:
    """Every number, ascending."""
    for first, last in ranges:
        yield from range(first, last + 1)


def count_in(ranges: Ranges) -> int:
    """How many numbers there are."""
    return sum(last - first + 1 for first, last in ranges)


def joined(ranges: Ranges, numbers: Iterable[int]) -> Ranges:
    """The set with these numbers in it. Those that come in order, as most do, cost nothing to place."""
    for number in numbers:
        last = ranges[-1][1] if ranges else -2
        if number == last + 1:
            ranges = (*ranges[:-1], (ranges[-1][0], number))
        elif number > last:
            ranges = (*ranges, (number, number))
        else:
            ranges = to_ranges((*numbers_in(ranges), number))
    return ranges
