"""Who runs, and whether somebody wants it to stop."""

import asyncio


def current_task() -> "asyncio.Task[object] | None":
    """A task that never waits may be driven by hand, and then it is nobody; so it is in a thread."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def is_being_cancelled() -> bool:
    """Whether a cancellation is meant for us, or comes from something that was waited for."""
    task = current_task()
    return task is not None and task.cancelling() > 0
