"""Checks of actions: their kind, and their `implementation`.

The kinds belong to the executor and to plugins, so the caller passes them in.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Protocol

import msgspec

from jeton.definitions.checks.mcp import server_problem
from jeton.definitions.library import LibrarySource
from jeton.definitions.read.action import KINDS, NODE_TARGETS
from jeton.definitions.read.location import Path, SourceLocation, parts_of
from jeton.definitions.report import Report, did_you_mean, shown
from jeton.model.definition.task import Action
from jeton.model.definition.workflow import Library
from jeton.model.json import JsonObject

READ_BY_HAND = ("context", "assert", "fail", "mock")  # checked by `read_action`
USE_SECRETS = ("http", "shell")
STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


class KindProblem(Protocol):
    """A problem of an implementation: the path in it, the problem, and the remedy."""

    @property
    def path(self) -> str: ...
    @property
    def problem(self) -> str: ...
    @property
    def remedy(self) -> str: ...


def _none() -> Collection[str]:
    return ()


def _nothing(action: Action) -> Iterable[KindProblem]:
    return ()


class ActionKinds(msgspec.Struct, frozen=True):
    """The installed kinds of action, with the problems of an implementation, and the providers of plugins."""

    names: Callable[[], Collection[str]] = _none
    flaws: Callable[[Action], Iterable[KindProblem]] = _nothing
    providers: Callable[[], Collection[str]] = _none


class _Project(msgspec.Struct, frozen=True):
    """The settings that actions refer to."""

    roots: Collection[str]
    secrets: Collection[str]
    scripts: bool
    settings: JsonObject


def _project(settings: JsonObject) -> _Project:
    files, secrets, shell = (settings.get(key) for key in ("files", "secrets", "shell"))
    return _Project(
        roots=files if isinstance(files, dict) else (),
        secrets=secrets if isinstance(secrets, dict) else (),
        scripts=not (isinstance(shell, dict) and shell.get("scripts") is False),
        settings=settings,
    )


def check_implementations(source: LibrarySource, known: Library, kinds: ActionKinds, report: Report) -> None:
    """Check every action, named or inline."""
    project = _project({**known.settings, **source.settings})
    for action, location, implementation in located_actions(source):
        if not action.kind or action.kind in NODE_TARGETS:
            continue
        if action.kind in READ_BY_HAND:
            continue
        names = kinds.names()
        if action.kind not in KINDS and action.kind not in names:
            problem = f"there is no action kind {shown(action.kind)}"
            remedy = did_you_mean(action.kind, sorted({*KINDS, *names}), "use a kind that exists")
            report.error(location / "kind", "unknown_kind", problem, remedy)
        elif action.kind in names:
            _check_one(action, kinds, project, implementation, report)


def _check_one(action: Action, kinds: ActionKinds, project: _Project, location: SourceLocation, report: Report) -> None:
    for flaw in kinds.flaws(action):
        report.error(location.at(_keys(flaw.path)), "bad_implementation", flaw.problem, flaw.remedy)
    if action.kind not in KINDS:
        return  # plugins may use these keys in their own way
    root = action.implementation.get("root")
    if isinstance(root, str) and root not in project.roots:
        problem = f"{shown(root)} is not a file root of the project"
        remedy = did_you_mean(root, project.roots, "name its folder under 'project: {settings: {files: …}}'")
        report.error(location / "root", "unknown_root", problem, remedy)
    if action.kind == "shell" and action.implementation.get("shell") is True and not project.scripts:
        problem = "a script for /bin/sh, which this project does not allow"
        remedy = "write argv without 'shell', or take 'scripts: false' out of the project's settings"
        report.error(location / "shell", "script_refused", problem, remedy)
    server = action.implementation.get("server")
    missing = server_problem(server, project.settings) if action.kind == "mcp" and isinstance(server, str) else None
    if missing is not None:
        report.error(location / "server", "unknown_server", *missing)
    if action.kind in USE_SECRETS:
        for path, name in _secrets_in(action.implementation):
            if name not in project.secrets:
                problem = f"{shown(name)} is not a secret of the project"
                remedy = did_you_mean(
                    name, project.secrets, "name its source under 'project: {settings: {secrets: …}}'"
                )
                report.error(location.at(path), "unknown_secret", problem, remedy)


def _secrets_in(implementation: JsonObject) -> Iterator[tuple[Path, str]]:
    """Every `{secret: NAME}` in an implementation, with its path."""
    for path, part in parts_of(implementation):
        match part:
            case {"secret": str() as name, **rest} if not rest:
                yield (*path, "secret"), name
            case _:
                pass


def located_actions(source: LibrarySource) -> Iterator[tuple[Action, SourceLocation, SourceLocation]]:
    """Each action, with its location and that of its implementation."""
    for named in source.actions.values():
        yield named.action, named.location, named.location / "implementation"
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
