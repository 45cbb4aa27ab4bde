"""Sets of integers as ranges, so that consecutive numbers take little space."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Inclusive, ascending, disjoint: ((0, 41), (43, 99))."""


def to_ranges(numbers: Iterable[int]) -> Ranges:
    """Ranges of numbers given in any order."""
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
    """The number of numbers."""
    return sum(last - first + 1 for first, last in ranges)


def numbers_outside(ranges: Ranges, size: int) -> Iterator[int]:
    """Every number below `size` that is not in the ranges, ascending."""
    start = 0
    for first, last in ranges:
        yield from range(start, min(first, size))
        start = last + 1
    yield from range(start, size)


def cut_out(ranges: Ranges, first: int, size: int) -> Ranges:
    """The part of the ranges from `first` on, so many numbers long, counted from `first`."""
    shifted = ((max(low - first, 0), min(high - first, size - 1)) for low, high in ranges)
    return tuple((low, high) for low, high in shifted if low <= high)


def joined(ranges: Ranges, numbers: Iterable[int]) -> Ranges:
    """The ranges with these numbers added. Numbers in ascending order are added at the end at no cost."""
    for number in numbers:
        last = ranges[-1][1] if ranges else -2
        if number == last + 1:
            ranges = (*ranges[:-1], (ranges[-1][0], number))
        elif number > last:
            ranges = (*ranges, (number, number))
        else:
            ranges = to_ranges((*numbers_in(ranges), number))
    return ranges
