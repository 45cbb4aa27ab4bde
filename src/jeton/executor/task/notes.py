"""What one attempt at a task says of itself: bounded, whoever says it, so that a flood cannot grow a commit."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import msgspec

from jeton.model.definition.profile import whole_credits
from jeton.model.note import CostNote, LogNote, MissingNote, Note, ProgressNote, TokensNote

MOST_NOTES: Final = 200
MOST_LETTERS: Final = 32_768


_lock = threading.RLock()
"""One for all: it is held for a moment, and an attempt need not make its own."""


class NoteLimiter:
    """Hands notes on, up to a number and a size; the last one says that there were more.

    A function may speak from any thread, so the bound is kept where it speaks: what waits for the loop is bounded too.
    """

    __slots__ = ("_cost", "_done", "_left", "_letters", "_millionths", "_tell", "_truncated")

    def __init__(self, tell: Callable[[Note], None], most: int = MOST_NOTES, letters: int = MOST_LETTERS) -> None:
        self._tell = tell
        self._left = most
        self._letters = letters
        self._truncated = False
        self._cost = 0  # of all steps together
        self._millionths = 0  # beside that: what models cost, rounded only when it is told
        self._done: dict[str, int] | None = None  # most tasks say nothing

    def tell(self, note: Note) -> None:
        """Hand it on, unless there is no more room, or it is how far the step was before."""
        with _lock:
            kept = self._added_up(note) if isinstance(note, CostNote | TokensNote) else self._kept(note)
            if kept is not None:
                self._tell(kept)

    def _added_up(self, note: CostNote | TokensNote) -> Note | None:
        """What the attempt has cost so far, in all; a model call is told of beside it."""
        if isinstance(note, CostNote):
            self._cost += note.credits
        else:
            self._tell(note)
            if note.millionths is None:
                return None
            self._millionths += note.millionths
        return CostNote(note.step, self._cost + whole_credits(self._millionths))

    def _kept(self, note: ProgressNote | LogNote | MissingNote) -> Note | None:
        if isinstance(note, MissingNote):
            return note  # a definition has so many mappings and no more
        if self._truncated or (isinstance(note, ProgressNote) and self._is_known(note)):
            return None
        self._left -= 1
        self._letters -= len(note.text)
        if self._left > 0 and self._letters >= 0:
            return note
        self._truncated = True
        if isinstance(note, ProgressNote):
            return LogNote(note.step, "log", "", truncated=True)
        fits = note.text[: len(note.text) + min(self._letters, 0)]
        return msgspec.structs.replace(note, text=fits, truncated=True)

    def _is_known(self, note: ProgressNote) -> bool:
        """A loop over a million items has a hundred things to say."""
        if note.done is None:
            return False
        percent = int(note.done * 100 + 1e-9)  # 0.29 * 100 is a little less than 29
        if self._done is None:
            self._done = {}
        known = self._done.get(note.step) == percent
        self._done[note.step] = percent
        return known


def _nobody_listens(_note: Note) -> None:
    pass


NO_NOTES: Final = NoteLimiter(_nobody_listens)


def on_the_loop(tell: Callable[[Note], None]) -> Callable[[Note], None]:
    """The same, callable from any thread: what another one says is heard when the loop comes to it."""
    return partial(_hand_over, asyncio.get_running_loop(), threading.get_ident(), tell)


def _hand_over(loop: asyncio.AbstractEventLoop, home: int, tell: Callable[[Note], None], note: Note) -> None:
    if threading.get_ident() == home:
        tell(note)
        return
    with suppress(RuntimeError):  # the loop is closed: the thread was given up long ago
        loop.call_soon_threadsafe(tell, note)
