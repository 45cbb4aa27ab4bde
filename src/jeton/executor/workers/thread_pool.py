"""Threads for functions that block.

The standard pool joins its threads when the interpreter exits, so one function that hangs keeps the process alive. Here
a thread can be abandoned: its result is dropped, and another takes its place. All counters are changed on the event
loop only, so there is nothing to lock.
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
MAX_THREADS_PER_SIZE = 4  # abandoned threads are replaced up to this factor, then calls wait


class _Work:
    """A function for a thread, and its result."""

    __slots__ = ("error", "function", "future", "value")

    def __init__(self, function: Callable[[], object], future: "asyncio.Future[None]") -> None:
        self.function = function
        self.future = future
        self.value: object = None
        self.error: BaseException | None = None

    def run_function(self) -> None:
        try:
            self.value = self.function()
        except BaseException as error:  # raised again where it is awaited, even SystemExit
            self.error = error


class _Thread:
    """One thread and its queue: work, or None to stop."""

    __slots__ = ("queue",)

    def __init__(self, done: "Callable[[_Thread, _Work], None]") -> None:
        self.queue: SimpleQueue[_Work | None] = SimpleQueue()
        # a daemon, so that a function that hangs does not block the exit
        threading.Thread(target=self._run, args=(done,), name="jeton-action", daemon=True).start()

    def _run(self, done: "Callable[[_Thread, _Work], None]") -> None:
        while (work := self.queue.get()) is not None:
            work.run_function()
            done(self, work)


class ThreadPool:
    """Runs functions in threads, at most `size` at a time, not counting abandoned ones."""

    def __init__(self, size: int = DEFAULT_THREADS) -> None:
        self.size = size
        self._idle: list[_Thread] = []
        self._waiting: deque[_Work] = deque()
        self._busy = 0
        self._abandoned = 0
        self._done: deque[tuple[_Thread, _Work]] = deque()
        self._wake_up_pending = False  # a wake-up of the event loop is pending
        self._closed = False

    async def run(self, function: Callable[[], Value]) -> Value:
        """The result of the function, or what it raises. If the caller is cancelled, the thread is abandoned."""
        loop = asyncio.get_running_loop()
        context = copy_context()
        work = _Work(lambda: context.run(function), loop.create_future())
        self._waiting.append(work)
        self._start_waiting(loop)
        try:
            await work.future
        except asyncio.CancelledError:
            self._abandon(work, loop)
            raise
        if work.error is not None:
            raise work.error
        return cast("Value", work.value)

    def close(self) -> None:
        """Stop the threads: idle ones at once, busy ones when they are done."""
        self._closed = True
        for thread in self._idle:
            thread.queue.put(None)
        self._idle.clear()

    def _start_waiting(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._waiting and self._busy < self.size:
            if self._idle:
                thread = self._idle.pop()
            elif self._busy + self._abandoned < self.size * MAX_THREADS_PER_SIZE:
                thread = _Thread(lambda thread, work: self._finished(loop, thread, work))
            else:
                return
            self._busy += 1
            thread.queue.put(self._waiting.popleft())

    def _abandon(self, work: _Work, loop: asyncio.AbstractEventLoop) -> None:
        if work in self._waiting:
            self._waiting.remove(work)
            return
        self._busy -= 1
        self._abandoned += 1
        self._start_waiting(loop)

    def _finished(self, loop: asyncio.AbstractEventLoop, thread: _Thread, work: _Work) -> None:
        """Called in the thread. One wake-up serves all work done until the event loop handles it."""
        self._done.append((thread, work))
        if not self._wake_up_pending:
            self._wake_up_pending = True
            try:
                loop.call_soon_threadsafe(self._collect, loop)
            except RuntimeError:
                thread.queue.put(None)

    def _collect(self, loop: asyncio.AbstractEventLoop) -> None:
        self._wake_up_pending = False
        while self._done:
            thread, work = self._done.popleft()
            if work.future.cancelled():
                self._abandoned -= 1
            else:
                self._busy -= 1
                work.future.set_result(None)
            if self._closed or self._busy + len(self._idle) >= self.size:
                thread.queue.put(None)
            else:
                self._idle.append(thread)
        self._start_waiting(loop)
