"""Actions: whether their kind exists, and whether their `implementation` is what that kind takes.

Kinds belong to the executor, and plugins add theirs, so they are handed in: nothing here knows how an action is run.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Protocol

import msgspec

from jeton.definitions.library import LibrarySource
from jeton.definitions.place import Path, Place
from jeton.definitions.read_action import KINDS, NODE_TARGETS
from jeton.definitions.report import Report, did_you_mean, shown
from jeton.model.task import Action
from jeton.model.workflow import Library

READ_BY_HAND = ("context", "assert", "mock")  # `read_action` says what is wrong with these
STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


class Flaw(Protocol):
    """Something wrong with an implementation: the path in it, what is wrong, and what to write instead."""

    @property
    def path(self) -> str: ...
    @property
    def problem(self) -> str: ...
    @property
    def remedy(self) -> str: ...


def _none() -> Collection[str]:
    return ()


def _nothing(action: Action) -> Iterable[Flaw]:
    return ()


class Kinds(msgspec.Struct, frozen=True):
    """The kinds of action there are besides the built-in ones, and what each says about an implementation."""

    names: Callable[[], Collection[str]] = _none
    flaws: Callable[[Action], Iterable[Flaw]] = _nothing


def check_implementations(source: LibrarySource, known: Library, kinds: Kinds, report: Report) -> None:
    """Every action, named or inline."""
    names = kinds.names()
    files = source.settings.get("files", known.settings.get("files"))
    roots = files if isinstance(files, dict) else {}
    for action, place, implementation in _actions(source):
        if not action.kind or action.kind in NODE_TARGETS:
            continue
        if action.kind not in KINDS and action.kind not in names:
            problem = f"there is no action kind {shown(action.kind)}"
            remedy = did_you_mean(action.kind, sorted({*KINDS, *names}), "use a kind that exists")
            report.error(place / "kind", "unknown_kind", problem, remedy)
        elif action.kind in names and action.kind not in READ_BY_HAND:
            _check_one(action, kinds, roots, implementation, report)


def _check_one(action: Action, kinds: Kinds, roots: Collection[str], place: Place, report: Report) -> None:
    for flaw in kinds.flaws(action):
        report.error(place.at(_keys(flaw.path)), "bad_implementation", flaw.problem, flaw.remedy)
    root = action.implementation.get("root")
    if action.kind in KINDS and isinstance(root, str) and root not in roots:
        problem = f"{shown(root)} is no root of the project"
        remedy = did_you_mean(root, roots, "name its folder under 'project: {settings: {files: …}}'")
        report.error(place / "root", "unknown_root", problem, remedy)


def _actions(source: LibrarySource) -> Iterator[tuple[Action, Place, Place]]:
    """Each action, where it stands, and where its implementation does."""
    for named in source.actions.values():
        yield named.action, named.place, named.place / "implementation"
    for task in source.all_tasks():
        for index, step in enumerate(task.task.steps):
            if isinstance(step.action, Action):
                yield step.action, task.action(index), task.action(index) / "implementation"
    for flow in source.flows.values():
        for name, action in flow.actions():
            yield action, flow.node(name), flow.node(name) / "data"


def _keys(path: str) -> Path:
    """`argv[1]` as the keys that lead there."""
    return tuple(int(step[1]) if step[1] else step[2] for step in STEP.finditer(path))
