"""The clocks of a host. Both give milliseconds since 1970.

Lengths of time follow a clock that nobody can set, so that a jump of the system clock ends none of them early or late.
Points in time follow the system clock. See docs/semantics/durability.md#clocks.
"""

import sys
import time
from collections.abc import Callable
from functools import partial


def wall_ms() -> int:
    """The system clock."""
    return time.time_ns() // 1_000_000


if sys.platform == "linux":
    # it goes on while the machine is suspended; a partial, because it is read several times for every task
    _steady_ns = partial(time.clock_gettime_ns, time.CLOCK_BOOTTIME)
else:
    _steady_ns = time.monotonic_ns


def steady_clock() -> Callable[[], int]:
    """A clock that has the system clock's time now, and cannot be set."""
    ahead = time.time_ns() - _steady_ns()

    def now() -> int:
        return (_steady_ns() + ahead) // 1_000_000

    return now
