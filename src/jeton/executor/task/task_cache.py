"""A cache of compiled tasks: the same few definitions are run again and again."""

from typing import TypeVar

import msgspec

from jeton.executor.task.compile import CompiledTask, compile_task, missing_function, named_action
from jeton.model.definition.task import Task
from jeton.model.definition.tool_spec import tool_spec
from jeton.model.definition.workflow import Library, memory_policies

Key = TypeVar("Key")
Value = TypeVar("Value")

MAX_KEPT = 512

_encode = msgspec.json.Encoder().encode


class TaskCache:
    """Finds a compiled task by identity, which is cheap, then by content, because a bundle may be decoded again."""

    def __init__(self) -> None:
        self._by_identity: dict[tuple[int, int], tuple[Task, Library, CompiledTask]] = {}
        self._by_content: dict[bytes, CompiledTask] = {}

    def missing(self, task: Task, library: Library) -> str | None:
        """Name a function that is missing; None for a cached task, whose functions were found."""
        if (id(task), id(library)) in self._by_identity:
            return None
        return missing_function(task, library)

    def get(self, task: Task, library: Library) -> CompiledTask:
        """The compiled task. One that lacks a function is not cached, because the function may be registered later."""
        identity = (id(task), id(library))
        known = self._by_identity.get(identity)
        if known is not None:
            return known[2]
        named = [named_action(step.action, library) for step in task.steps if isinstance(step.action, str)]
        told = {name: tool_spec(tool, library) for name, tool in library.tools.items()}
        memories = memory_policies(library)
        content = _encode((task, named, library.settings, library.model_profiles, library.prompts, told, memories))
        compiled = self._by_content.get(content)
        if compiled is None:
            compiled = compile_task(task, library)
            if missing_function(task, library) is not None:
                return compiled
            _keep(self._by_content, content, compiled)
        # the task and the library are kept too, so that their ids are not reused
        _keep(self._by_identity, identity, (task, library, compiled))
        return compiled


def _keep(kept: dict[Key, Value], key: Key, value: Value) -> None:
    """Add an item, dropping the oldest if the cache is full."""
    if len(kept) >= MAX_KEPT:
        del kept[next(iter(kept))]
    kept[key] = value
