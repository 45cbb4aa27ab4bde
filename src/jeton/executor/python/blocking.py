"""Warnings about async functions that block the event loop, where everything else then waits.

A thread asks the loop for a sign of life while functions run on it. If none comes, the stack of the loop's thread
shows which function is at fault, and its line. A call that does not block costs nothing but a counter.
"""

import asyncio
import logging
import sys
import threading
import time
from concurrent.futures import Future, wait
from pathlib import Path
from types import CodeType, FrameType

LIMIT_S = 1.0
CALLER = ("jeton.executor.actions.python", "call_function")
"""The module and name of the function that calls those of users."""

_log = logging.getLogger("jeton.executor")


class LoopWatch:
    """Watches the loop while functions run on it. Used from the loop's thread alone."""

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self.begun = self.ended = 0  # functions; counted by the caller, because a call would cost more than counting
        self.watching = False
        self._known = 0  # of those begun, at the last sign of life
        self._reported: set[CodeType] = set()

    def begin_watching(self) -> None:
        """Watch from now on, if there is a loop."""
        try:
            watch = (asyncio.get_running_loop(), threading.get_ident())
        except RuntimeError:  # a test may drive a task without a loop
            return
        self.watching = True
        threading.Thread(target=self._watch, args=watch, name="jeton-watch", daemon=True).start()

    def _watch(self, loop: asyncio.AbstractEventLoop, thread: int) -> None:
        """Ask the loop again and again, until no function has run for a while, since starting a thread costs more."""
        while True:
            sign: Future[bool] = Future()
            try:
                loop.call_soon_threadsafe(self._go_on, sign)
            except RuntimeError:  # it is closed
                return
            while not wait((sign,), self._limit_s).done:
                if loop.is_closed():
                    return
                self._report(sys._current_frames().get(thread))  # pyright: ignore[reportPrivateUsage] # documented
            if not sign.result():
                return
            time.sleep(self._limit_s)

    def _go_on(self, sign: "Future[bool]") -> None:
        self.watching, self._known = self.begun > min(self.ended, self._known), self.begun
        sign.set_result(self.watching)

    def _report(self, frame: FrameType | None) -> None:
        """Warn of the function on the stack of the loop's thread, once."""
        inner = None
        while frame is not None and (frame.f_globals.get("__name__"), frame.f_code.co_name) != CALLER:
            inner, frame = frame, frame.f_back
        if frame is None or inner is None or inner.f_code in self._reported:
            return
        self._reported.add(inner.f_code)
        _log.warning(
            "%s blocks the event loop for more than %g s, at line %s of %s, and everything else waits: write it with "
            "'def' instead of 'async def', so that it runs in a thread, or call what blocks with 'await "
            "asyncio.to_thread(…)'",
            inner.f_code.co_name,
            self._limit_s,
            inner.f_lineno,
            Path(inner.f_code.co_filename).name,
        )
