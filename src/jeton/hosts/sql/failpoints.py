"""Failpoints for tests: `JETON_FAILPOINT=after_commit:3`, or `before_commit:2:full`.

The Nth time the place is passed, the process is killed as by `kill -9`, or SQLite's error of that name is raised.
"""

import os
import signal
from collections.abc import Callable

import apsw

_ERRORS: dict[str, type[apsw.Error]] = {"full": apsw.FullError, "ioerr": apsw.IOError, "corrupt": apsw.CorruptError}


def _pass(_place: str) -> None:
    """Do nothing: no failpoint is set."""


def _failpoint(setting: str) -> Callable[[str], None]:
    place, nth, *how = setting.split(":")
    left = int(nth)

    def hit(passed: str) -> None:
        nonlocal left
        if passed != place:
            return
        left -= 1
        if left == 0:
            if how:
                raise _ERRORS[how[0]](f"failpoint {setting}")
            os.kill(os.getpid(), signal.SIGKILL)

    return hit


_setting = os.environ.get("JETON_FAILPOINT")
hit: Callable[[str], None] = _failpoint(_setting) if _setting else _pass
