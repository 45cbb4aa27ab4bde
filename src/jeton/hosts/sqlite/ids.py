"""Names for new runs: short, sortable by when they were made, and never the same twice."""

import secrets

from jeton.model.ids import RunId

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: none is mistaken for another
_TIME_BITS, _CHANCE_BITS = 45, 55


def new_run_id(now_ms: int) -> RunId:
    """Nine digits of time and eleven of chance: neighbours in time are neighbours in the tables."""
    number = (now_ms & ((1 << _TIME_BITS) - 1)) << _CHANCE_BITS | secrets.randbits(_CHANCE_BITS)
    return RunId("".join(_DIGITS[number >> shift & 31] for shift in range(_TIME_BITS + _CHANCE_BITS - 5, -1, -5)))
