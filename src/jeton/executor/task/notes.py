"""Notes of one attempt at a task: progress, logs and costs, bounded so that a flood of them cannot grow a commit."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec

from jeton.model.definition.profile import whole_credits
from jeton.model.note import CostNote, LogNote, MissingNote, Note, ProgressNote, RetryNote, TokensNote

MAX_NOTES: Final = 200
MAX_CHARACTERS: Final = 32_768


_lock = threading.RLock()
"""Shared by all attempts: it is held briefly, and creating one per attempt would cost more."""


class NoteLimiter(msgspec.Struct, eq=False):
    """Passes notes on, up to a number and a size; the last one is marked as truncated.

    Notes may come from any thread. The limit applies before they are queued for the event loop, which bounds the queue.
    """

    _send: Callable[[Note], None]
    _left: int = MAX_NOTES
    _characters: int = MAX_CHARACTERS
    _truncated: bool = False
    _cost: int = 0  # of all steps
    _millionths: int = 0  # of credits, for model calls; rounded when reported
    _done: dict[str, int] | None = None  # most tasks report no progress

    def add(self, note: Note) -> None:
        """Pass a note on, unless the limit is reached or the progress has not changed."""
        with _lock:
            kept = self._add_cost(note) if isinstance(note, CostNote | TokensNote) else self._limited(note)
            if kept is not None:
                self._send(kept)

    def _add_cost(self, note: CostNote | TokensNote) -> Note | None:
        """The total cost of the attempt so far; the tokens of a model call are passed on as well."""
        if isinstance(note, CostNote):
            self._cost += note.credits
        else:
            self._send(note)
            if note.millionths is None:
                return None
            self._millionths += note.millionths
        return CostNote(note.step, self._cost + whole_credits(self._millionths))

    def _limited(self, note: ProgressNote | LogNote | MissingNote | RetryNote) -> Note | None:
        if isinstance(note, RetryNote):
            return note if note.call <= MAX_NOTES + 1 else None
        if isinstance(note, MissingNote):
            return note  # bounded by the mappings of the definition
        if self._truncated or (isinstance(note, ProgressNote) and self._is_unchanged(note)):
            return None
        self._left -= 1
        self._characters -= len(note.text)
        if self._left > 0 and self._characters >= 0:
            return note
        self._truncated = True
        if isinstance(note, ProgressNote):
            return LogNote(note.step, "log", "", truncated=True)
        fits = note.text[: len(note.text) + min(self._characters, 0)]
        return msgspec.structs.replace(note, text=fits, truncated=True)

    def _is_unchanged(self, note: ProgressNote) -> bool:
        """Whether the percentage is the same as before, so that a loop over a million items sends a hundred notes."""
        if note.done is None:
            return False
        percent = int(note.done * 100 + 1e-9)  # 0.29 * 100 is a little less than 29
        if self._done is None:
            self._done = {}
        known = self._done.get(note.step) == percent
        self._done[note.step] = percent
        return known


def _ignore(_note: Note) -> None:
    pass


NO_NOTES: Final = NoteLimiter(_ignore)


class LoopThread:
    """The thread of the event loop that is running. Calls from other threads are scheduled on it."""

    __slots__ = ("_loop", "_thread")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def call(self, receive: Callable[[Note], None], note: Note) -> None:
        """Pass a note on, from any thread."""
        if threading.get_ident() == self._thread:
            receive(note)
            return
        with suppress(RuntimeError):  # the loop is closed, and the thread was abandoned before
            self._loop.call_soon_threadsafe(receive, note)
