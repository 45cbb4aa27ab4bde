"""The current asyncio task, and whether it is being cancelled."""

import asyncio


def current_task() -> "asyncio.Task[object] | None":
    """The current asyncio task; None in a thread, and for a task that runs without an asyncio task."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def is_being_cancelled() -> bool:
    """Whether the current task is cancelled, as opposed to something that it awaited."""
    task = current_task()
    return task is not None and task.cancelling() > 0
