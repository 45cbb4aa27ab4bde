"""ThreadPool for functions that block.

The standard pool joins its threads when the interpreter ends, so one function that hangs keeps the process alive. A
thread here can be given up instead: its result is dropped, and another takes its place. All accounts are kept on the
event loop, so there is nothing to lock.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from queue import SimpleQueue
from typing import TypeVar, cast

Value = TypeVar("Value")

DEFAULT_THREADS = 32
MOST_PER_SIZE = 4  # threads that hang are replaced up to here; then calls wait, because memory is bounded too


class _Work:
    """A function handed to a thread, and what became of it."""

    __slots__ = ("error", "function", "future", "value")

    def __init__(self, function: Callable[[], object], future: "asyncio.Future[None]") -> None:
        self.function = function
        self.future = future
        self.value: object = None
        self.error: BaseException | None = None

    def do(self) -> None:
        try:
            self.value = self.function()
        except BaseException as error:  # whoever waits for it decides, even about SystemExit
            self.error = error


class _Thread:
    """One thread and its letter box: work, or None to go home."""

    __slots__ = ("box",)

    def __init__(self, done: "Callable[[_Thread, _Work], None]") -> None:
        self.box: SimpleQueue[_Work | None] = SimpleQueue()
        # a daemon, so that a function that hangs does not hold up the end of the process
        threading.Thread(target=self._serve, args=(done,), name="jeton-action", daemon=True).start()

    def _serve(self, done: "Callable[[_Thread, _Work], None]") -> None:
        while (work := self.box.get()) is not None:
            work.do()
            done(self, work)


class ThreadPool:
    """Runs functions in threads, at most `size` at a time, not counting those that were given up."""

    def __init__(self, size: int = DEFAULT_THREADS) -> None:
        self.size = size
        self._idle: list[_Thread] = []
        self._waiting: deque[_Work] = deque()
        self._busy = 0
        self._given_up = 0
        self._done: deque[tuple[_Thread, _Work]] = deque()
        self._told = False  # the loop was told that something is done, and has not looked yet
        self._closed = False

    async def run(self, function: Callable[[], Value]) -> Value:
        """What the function gives or raises. Whoever is cancelled while waiting gives the thread up."""
        loop = asyncio.get_running_loop()
        context = copy_context()
        work = _Work(lambda: context.run(function), loop.create_future())
        self._waiting.append(work)
        self._hand_out(loop)
        try:
            await work.future
        except asyncio.CancelledError:
            self._give_up(work, loop)
            raise
        if work.error is not None:
            raise work.error
        return cast("Value", work.value)

    def close(self) -> None:
        """Send the threads home: those that rest at once, those that work when they are done."""
        self._closed = True
        for thread in self._idle:
            thread.box.put(None)
        self._idle.clear()

    def _hand_out(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._waiting and self._busy < self.size:
            if self._idle:
                thread = self._idle.pop()
            elif self._busy + self._given_up < self.size * MOST_PER_SIZE:
                thread = _Thread(lambda thread, work: self._tell(loop, thread, work))
            else:
                return
            self._busy += 1
            thread.box.put(self._waiting.popleft())

    def _give_up(self, work: _Work, loop: asyncio.AbstractEventLoop) -> None:
        if work in self._waiting:
            self._waiting.remove(work)
            return
        self._busy -= 1
        self._given_up += 1
        self._hand_out(loop)

    def _tell(self, loop: asyncio.AbstractEventLoop, thread: _Thread, work: _Work) -> None:
        """In the thread. One wake-up serves everything done until the loop looks; nobody listens once it is closed."""
        self._done.append((thread, work))
        if not self._told:
            self._told = True
            try:
                loop.call_soon_threadsafe(self._deliver, loop)
            except RuntimeError:
                thread.box.put(None)

    def _deliver(self, loop: asyncio.AbstractEventLoop) -> None:
        self._told = False
        while self._done:
            thread, work = self._done.popleft()
            if work.future.cancelled():
                self._given_up -= 1
            else:
                self._busy -= 1
                work.future.set_result(None)
            if self._closed or self._busy + len(self._idle) >= self.size:
                thread.box.put(None)
            else:
                self._idle.append(thread)
        self._hand_out(loop)
