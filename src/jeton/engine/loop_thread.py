"""An event loop in a thread of its own, for code that is not async."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Collection, Coroutine, Iterator
from typing import TypeVar

_Value = TypeVar("_Value")


class LoopThread:
    """An event loop that runs in a background thread while this context is entered."""

    def __enter__(self) -> "LoopThread":
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="jeton", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(_cancel_all(asyncio.all_tasks(self._loop)))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def wait(self, work: Coroutine[object, object, _Value]) -> _Value:
        """Run a coroutine on the loop, and wait for its result."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:  # a KeyboardInterrupt must stop the coroutine too
            future.cancel()
            raise

    def each(self, items: AsyncGenerator[_Value, None]) -> Iterator[_Value]:
        """Iterate over an async generator on the loop."""
        try:
            while True:
                yield self.wait(items.asend(None))
        except StopAsyncIteration:
            return
        finally:
            if not self._loop.is_closed():  # closing the loop has closed them
                self.wait(items.aclose())


async def _cancel_all(tasks: Collection[asyncio.Task[object]]) -> None:
    """Cancel the tasks and wait for their ends: one that is left pending is reported when it is destroyed."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
