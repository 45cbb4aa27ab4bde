"""Names for new runs: short, sortable by when they were made, and never the same twice."""

import secrets

from jeton.model.ids import RunId

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: none is mistaken for another
_PAIRS = tuple(first + second for first in _DIGITS for second in _DIGITS)  # ten bits each
_TIME_BITS, _CHANCE_BITS = 45, 55
_SHIFTS = range(_TIME_BITS + _CHANCE_BITS - 10, -1, -10)


def new_run_id(now_ms: int) -> RunId:
    """Nine digits of time and eleven of chance: neighbours in time are neighbours in the tables."""
    number = (now_ms & ((1 << _TIME_BITS) - 1)) << _CHANCE_BITS | secrets.randbits(_CHANCE_BITS)
    return RunId("".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS]))
