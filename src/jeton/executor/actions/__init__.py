"""The built-in kinds of action, one file each. Plugins add kinds through the entry point group `jeton.kinds`."""

import logging
from importlib.metadata import entry_points

import msgspec

from jeton.executor.action import Kind, KindProblem
from jeton.executor.actions.artifact import Artifact
from jeton.executor.actions.assertion import Assert
from jeton.executor.actions.context import Context
from jeton.executor.actions.emit import Emit
from jeton.executor.actions.fail import Fail
from jeton.executor.actions.file import File
from jeton.executor.actions.http import Http
from jeton.executor.actions.llm import Llm
from jeton.executor.actions.mcp import Mcp
from jeton.executor.actions.memory import MemoryAction
from jeton.executor.actions.metric import Metric
from jeton.executor.actions.mock import Mock
from jeton.executor.actions.model import Model
from jeton.executor.actions.node import Node
from jeton.executor.actions.python import Python
from jeton.executor.actions.shell import Shell
from jeton.executor.actions.signal import Signal
from jeton.executor.models.extract import Extract
from jeton.executor.models.summarise import Summarise
from jeton.model.definition.task import Action
from jeton.model.json import JsonObject

ENTRY_POINTS = "jeton.kinds"

INTERNAL = frozenset(("extract", "model", "summarise"))  # made by jeton itself: no definition may name them

_log = logging.getLogger("jeton.executor")

_kinds: dict[str, type[Kind]] = {
    "artifact": Artifact,
    "assert": Assert,
    "context": Context,
    "emit": Emit,
    "extract": Extract,
    "fail": Fail,
    "file": File,
    "http": Http,
    "llm": Llm,
    "memory": MemoryAction,
    "mcp": Mcp,
    "metric": Metric,
    "mock": Mock,
    "model": Model,
    "node": Node,
    "python": Python,
    "shell": Shell,
    "signal": Signal,
    "summarise": Summarise,
}


def register_kind(name: str, kind: type[Kind]) -> None:
    """Register a kind of action by name, replacing one of the same name."""
    _kinds[name] = kind


def find_kind(name: str) -> type[Kind] | None:
    """The kind of that name, loaded from a plugin if necessary."""
    if name not in _kinds:
        for entry_point in entry_points(group=ENTRY_POINTS, name=name):
            try:
                found = entry_point.load()
            except Exception as error:  # a broken plugin fails its own actions only
                _log.error("the plugin %s of the kind '%s' cannot be loaded: %s", entry_point.value, name, error)
            else:
                _kinds[name] = found
    return _kinds.get(name)


def kind_names() -> frozenset[str]:
    """The names of all kinds that a definition may have. Plugins are listed without being imported."""
    return (frozenset(_kinds) - INTERNAL) | entry_points(group=ENTRY_POINTS).names


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
