"""`jeton check FILE…`: every problem in definition files, and whether they can be deployed."""

import json
import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from jeton.model.failure import Problem

DONE, DEFINITION_ERROR, NOT_FOUND = 0, 2, 3
COLOURS = {"error": "red", "warning": "yellow"}


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path())
@click.option("--app", metavar="APP", help="A Python file or module that defines actions: it is imported.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: {ok, problems}.")
@click.option("--store", hidden=True, help="Taken by every verb; checking reads no store.")
@click.option("--url", hidden=True, help="Taken by every verb; checking asks no server.")
def command(files: tuple[str, ...], app: str | None, as_json: bool, store: str | None, url: str | None) -> None:
    """Report every problem in definition files and folders.

    Exits with 0 if there is no error (there may be warnings), with 2 if there is one, with 3 if a file was not found.
    """
    from jeton.definitions import load_library  # here, so that help does not wait for it
    from jeton.engine.build.source import KINDS
    from jeton.executor import action_functions
    from jeton.model.definition.workflow import Library

    if app is not None:
        _load(app, as_json)
    loaded = load_library(files, Library(actions=action_functions()), KINDS)
    if as_json:
        click.echo(_json(loaded.ok, loaded.problems))
    else:
        _print(loaded.problems)
    sys.exit(_exit_code(loaded.problems))


def _load(app: str, as_json: bool) -> None:
    from jeton.cli.app import load_app
    from jeton.cli.output import reporting_errors

    with reporting_errors(as_json):
        load_app(app)


def _exit_code(problems: "tuple[Problem, ...]") -> int:
    if any(problem.code == "file_not_found" for problem in problems):
        return NOT_FOUND
    return DEFINITION_ERROR if any(problem.severity == "error" for problem in problems) else DONE


def _json(ok: bool, problems: "tuple[Problem, ...]") -> str:
    fields = ("severity", "code", "file", "line", "path", "problem", "remedy")
    found = [{field: getattr(problem, field) for field in fields} for problem in problems]
    return json.dumps({"ok": ok, "problems": found}, indent=2)


def _print(problems: "tuple[Problem, ...]") -> None:
    colour = False if os.environ.get("NO_COLOR") else None  # none: as the terminal can
    for problem in problems:
        where = problem.file + (f":{problem.line}" if problem.line else "")
        severity = click.style(problem.severity, fg=COLOURS[problem.severity], bold=True)
        path = f" {problem.path}" if problem.path else ""
        click.echo(f"{where}: {severity} {problem.code}{path}: {problem.problem}", color=colour)
        click.echo(click.style(f"    {problem.remedy}", dim=True), color=colour)
    click.echo(_summary(problems), color=colour)


def _summary(problems: "tuple[Problem, ...]") -> str:
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    if not problems:
        return click.style("no problems", fg="green")
    counted = ", ".join(_counted(n, word) for n, word in ((errors, "error"), (warnings, "warning")) if n)
    return click.style(counted, fg="red" if errors else "yellow", bold=True)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
