"""Tasks made ready, kept: the same few definitions are run again and again."""

from typing import TypeVar

import msgspec

from jeton.executor.task.compile import CompiledTask, compile_task, missing_function, named_action
from jeton.model.definition.task import Task
from jeton.model.definition.workflow import Library

Key = TypeVar("Key")
Value = TypeVar("Value")

MOST_KEPT = 512

_encode = msgspec.json.Encoder().encode


class TaskCache:
    """Finds a task by identity first, which costs nothing, and then by what is in it: a bundle may be decoded anew."""

    def __init__(self) -> None:
        self._by_identity: dict[tuple[int, int], tuple[Task, Library, CompiledTask]] = {}
        self._by_content: dict[bytes, CompiledTask] = {}

    def missing(self, task: Task, library: Library) -> str | None:
        """Which function cannot be found; what is kept was found already."""
        if (id(task), id(library)) in self._by_identity:
            return None
        return missing_function(task, library)

    def get(self, task: Task, library: Library) -> CompiledTask:
        """The task, made ready. One that lacks a function is not kept, because the function may yet come."""
        identity = (id(task), id(library))
        known = self._by_identity.get(identity)
        if known is not None:
            return known[2]
        named = [named_action(step.action, library) for step in task.steps if isinstance(step.action, str)]
        content = _encode((task, named, library.settings, library.model_profiles))
        ready = self._by_content.get(content)
        if ready is None:
            ready = compile_task(task, library)
            if missing_function(task, library) is not None:
                return ready
            _keep(self._by_content, content, ready)
        # the values are kept with it, so that no other can come to have the same identity
        _keep(self._by_identity, identity, (task, library, ready))
        return ready


def _keep(kept: dict[Key, Value], key: Key, value: Value) -> None:
    """The oldest makes room: definitions go out of use in the order they came."""
    if len(kept) >= MOST_KEPT:
        del kept[next(iter(kept))]
    kept[key] = value
