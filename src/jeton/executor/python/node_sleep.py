"""End a node function at a sleep, and detect one that did not end.

A sleep raises a BaseException that is not an Exception, so that ordinary error handling does not catch it. Code that
catches everything would continue as if it had slept; that fails the node, always.
"""

import asyncio
from typing import cast

from jeton.executor.action import ActionFailed
from jeton.executor.workers.cancellation import is_being_cancelled
from jeton.model.definition.task import Suspended

_REMEDY = "catch Exception rather than BaseException, or raise what is not an Exception again"


class Sleeping(BaseException):
    """Ends the function until its sleep is over. Not an error, and not to be caught."""


class SleepIgnored(RuntimeError):
    """A step was called by a task or thread that should be asleep."""


class SleepState:
    """The sleeps of one call: until when it sleeps, and which tasks and threads were ended."""

    def __init__(self) -> None:
        self._asleep: Suspended | None = None
        self._ended: set[object] = set()
        self._continued = False

    @property
    def asleep(self) -> bool:
        return self._asleep is not None

    def end(self, caller: object) -> Sleeping:
        """The exception to raise in an asyncio task or a thread, which counts as asleep from now on."""
        self._ended.add(caller)
        return Sleeping("asleep: this is not an error and must not be caught")

    def fall_asleep(self, until: int, sleep: str, caller: object) -> Sleeping:
        """Record a sleep; gives the exception to raise. Of several the earliest counts, and the others are repeated."""
        if self._asleep is None or until < self._asleep.until:
            self._asleep = Suspended(until, sleep)
        return self.end(caller)

    def check_continued(self, caller: object) -> bool:
        """Whether a task or thread continues although it was ended. Others may not have been ended yet."""
        if caller in self._ended:
            self._continued = True
        return caller in self._ended

    def outcome(self, error: BaseException | None) -> Suspended | ActionFailed | None:
        """The result of the call if it ended because of a sleep, by what the function raised; otherwise None."""
        if self._asleep is None or (isinstance(error, asyncio.CancelledError) and is_being_cancelled()):
            return None
        if error is not None and not self._continued:
            if _is_sleeping(error):
                return self._asleep
            if not _comes_of_sleeping(error):
                return None  # an unrelated failure
        did = "returned" if error is None else f"raised {type(error).__name__}: {error}"
        did = "continued" if self._continued else did
        problem = f"the function should have ended at {self._asleep.sleep!r}, but it {did}"
        return ActionFailed("sleep_swallowed", f"{problem}: {_REMEDY}", fatal=True)


def _is_sleeping(error: BaseException) -> bool:
    """Also for an exception group that contains nothing else, as a task group raises."""
    if isinstance(error, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", error).split(Sleeping)[1] is None
    return isinstance(error, Sleeping)


def _comes_of_sleeping(error: BaseException) -> bool:
    """Whether it was raised while handling the exception of a sleep."""
    before: BaseException | None = error
    while before is not None:
        if _is_sleeping(before):
            return True
        before = before.__cause__ or before.__context__
    return False
