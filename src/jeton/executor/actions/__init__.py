"""The built-in kinds of action, one file each. Plugins add kinds through the entry point group `jeton.kinds`."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from jeton.executor.action import Kind, KindProblem
from jeton.model.definition.task import Action
from jeton.model.json import JsonObject

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

ENTRY_POINTS = "jeton.kinds"

INTERNAL = frozenset(("extract", "model", "summarise"))  # made by jeton itself: no definition may name them

_log = logging.getLogger("jeton.executor")

# where the built-in kinds are: one is imported when a definition first uses it
_HOMES = {
    "artifact": "jeton.executor.actions.artifact:Artifact",
    "assert": "jeton.executor.actions.assertion:Assert",
    "context": "jeton.executor.actions.context:Context",
    "emit": "jeton.executor.actions.emit:Emit",
    "extract": "jeton.executor.models.extract:Extract",
    "fail": "jeton.executor.actions.fail:Fail",
    "file": "jeton.executor.actions.file:File",
    "http": "jeton.executor.actions.http:Http",
    "llm": "jeton.executor.actions.llm:Llm",
    "mcp": "jeton.executor.actions.mcp:Mcp",
    "memory": "jeton.executor.actions.memory:MemoryAction",
    "metric": "jeton.executor.actions.metric:Metric",
    "mock": "jeton.executor.actions.mock:Mock",
    "model": "jeton.executor.actions.model:Model",
    "node": "jeton.executor.actions.node:Node",
    "python": "jeton.executor.actions.python:Python",
    "shell": "jeton.executor.actions.shell:Shell",
    "signal": "jeton.executor.actions.signal:Signal",
    "summarise": "jeton.executor.models.summarise:Summarise",
}

_kinds: dict[str, type[Kind]] = {}  # those in use, and those of plugins


def register_kind(name: str, kind: type[Kind]) -> None:
    """Register a kind of action by name, replacing one of the same name."""
    _kinds[name] = kind


def find_kind(name: str) -> type[Kind] | None:
    """The kind of that name, loaded from a plugin if necessary."""
    if name not in _kinds and name in _HOMES:
        module, _, kind = _HOMES[name].partition(":")
        _kinds[name] = getattr(import_module(module), kind)
    if name not in _kinds:
        for entry_point in _entry_points().select(name=name):
            try:
                found = entry_point.load()
            except Exception as error:  # a broken plugin fails its own actions only
                _log.error("the plugin %s of the kind '%s' cannot be loaded: %s", entry_point.value, name, error)
            else:
                _kinds[name] = found
    return _kinds.get(name)


def kind_names() -> frozenset[str]:
    """The names of all kinds that a definition may have. Plugins are listed without being imported."""
    return frozenset(((_HOMES.keys() | _kinds.keys()) - INTERNAL) | _entry_points().names)


def _entry_points() -> "EntryPoints":
    from importlib.metadata import entry_points  # slow to import, and not needed for built-in kinds

    return entry_points(group=ENTRY_POINTS)


def read_kind(kind: type[Kind], implementation: JsonObject) -> Kind | KindProblem:
    """Decode an implementation into its kind; gives the problem if the shape is wrong."""
    try:
        return msgspec.convert(implementation, kind)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        return KindProblem(path.rstrip("`").lstrip("."), problem, f"the keys are: {', '.join(kind.__struct_fields__)}")


def check_implementation(action: Action) -> tuple[KindProblem, ...]:
    """All problems with the implementation of an action. Nothing is run."""
    kind = find_kind(action.kind)
    if kind is None:
        return (
            KindProblem(
                "kind", f"there is no action kind '{action.kind}'", f"use one of: {', '.join(sorted(kind_names()))}"
            ),
        )
    found = read_kind(kind, action.implementation)
    return (found,) if isinstance(found, KindProblem) else tuple(found.problems())
