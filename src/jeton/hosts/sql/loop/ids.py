"""Names for new runs: short, sortable by when they were made, and never the same twice."""

import os
import struct
from collections import deque

from jeton.model.ids import RunId

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: none is mistaken for another
_PAIRS = tuple(first + second for first in _DIGITS for second in _DIGITS)  # ten bits each
_TIME_BITS, _CHANCE_BITS = 45, 55
_SHIFTS = range(_TIME_BITS + _CHANCE_BITS - 10, -1, -10)
_BATCH = 256  # one system call for so many names, since it costs more than the rest of a name

_chance: deque[int] = deque()
os.register_at_fork(after_in_child=_chance.clear)


def _random_number() -> int:
    """64 bits from the operating system. Safe in several threads, because each step of a deque is."""
    while True:
        try:
            return _chance.popleft()
        except IndexError:
            _chance.extend(struct.unpack(f"{_BATCH}Q", os.urandom(8 * _BATCH)))


def new_run_id(now_ms: int) -> RunId:
    """Nine digits of time and eleven of chance: neighbours in time are neighbours in the tables."""
    chance = _random_number() >> 64 - _CHANCE_BITS
    number = (now_ms & ((1 << _TIME_BITS) - 1)) << _CHANCE_BITS | chance
    return RunId("".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS]))
