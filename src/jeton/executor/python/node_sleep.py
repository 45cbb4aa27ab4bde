"""How a node's function is left at a sleep, and how one is known that did not let itself be.

A sleep ends the function by raising something that is no `Exception`: whoever handles errors does not meet it. Code
that catches everything may stop it, and would go on as if it had slept; that fails the node, and is never passed over.
"""

import asyncio
from typing import cast

from jeton.executor.action import ActionFailed
from jeton.executor.workers.cancellation import is_being_cancelled
from jeton.model.definition.task import Suspended

_REMEDY = "catch Exception and no more, or raise again what is no error"


class Sleeping(BaseException):
    """Ends the function until its sleep is over. It is no error, and nobody need catch it."""


class SleepIgnored(RuntimeError):
    """A step was asked for by who should have been asleep."""


class SleepState:
    """What became of the sleeps of one call: until when it sleeps, and who was told so."""

    def __init__(self) -> None:
        self._asleep: Suspended | None = None
        self._told: set[object] = set()
        self._went_on = False

    @property
    def asleep(self) -> bool:
        return self._asleep is not None

    def end(self, who: object) -> Sleeping:
        """What to raise in an asyncio task or a thread, which is asleep from then on."""
        self._told.add(who)
        return Sleeping("asleep: this is no error, and is not to be caught")

    def fall_asleep(self, until: int, sleep: str, who: object) -> Sleeping:
        """The same at a sleep. Of several at a time the soonest counts: the others are asked for again then."""
        if self._asleep is None or until < self._asleep.until:
            self._asleep = Suspended(until, sleep)
        return self.end(who)

    def goes_on(self, who: object) -> bool:
        """Whether somebody takes a step who was told to sleep. Another task or thread may not have heard of it yet."""
        if who in self._told:
            self._went_on = True
        return who in self._told

    def outcome(self, error: BaseException | None) -> Suspended | ActionFailed | None:
        """What the function's end means, by what it raised; None if it has nothing to do with sleeping."""
        if self._asleep is None or (isinstance(error, asyncio.CancelledError) and is_being_cancelled()):
            return None
        if error is not None and not self._went_on:
            if _is_sleeping(error):
                return self._asleep
            if not _comes_of_sleeping(error):
                return None  # beside the sleep something failed by itself
        did = "returned" if error is None else f"raised {type(error).__name__}: {error}"
        did = "went on" if self._went_on else did
        told = f"the function was to end at {self._asleep.sleep!r} until that sleep is over, and {did} instead"
        return ActionFailed("sleep_swallowed", f"{told}: {_REMEDY}", fatal=True)


def _is_sleeping(error: BaseException) -> bool:
    """Also when it comes out of a task group, which raises a group of whatever its tasks raised."""
    if isinstance(error, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", error).split(Sleeping)[1] is None
    return isinstance(error, Sleeping)


def _comes_of_sleeping(error: BaseException) -> bool:
    """Whether it was raised where the end of the function was caught, or cleaned up after."""
    before: BaseException | None = error
    while before is not None:
        if _is_sleeping(before):
            return True
        before = before.__cause__ or before.__context__
    return False
