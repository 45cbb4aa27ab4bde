"""`jeton import-flow FILE`: convert a graph exported by another editor into a library file."""

import sys
from pathlib import Path

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, echo_problems, exit_for, reporting_errors
from jeton.definitions import library_from
from jeton.definitions.import_flow import import_flow
from jeton.engine.build.source import KINDS
from jeton.executor import action_functions
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused


@click.command("import-flow")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--name", help="The flow's name, if the export has none.")
@click.option("--output", type=click.Path(dir_okay=False), help="Write to this file.")
@store_option
@json_option
def command(file: str, name: str | None, output: str | None, store: str, as_json: bool) -> None:
    """Convert an exported graph into a library file, and report what must be corrected before it can run."""
    with reporting_errors(as_json):
        imported = import_flow(_text(file), file, name or "imported")
        known = Library(actions=action_functions())
        loaded = library_from(imported.library, known, file=output or "", kinds=KINDS)
        if output is not None:
            Path(output).write_text(imported.text, encoding="utf-8")
        if as_json:
            found = {"flow": imported.name, "library": imported.library, "ok": loaded.ok, "problems": loaded.problems}
            echo_json(found)
        else:
            if output is None:
                echo(imported.text.rstrip("\n"))
            echo_problems(loaded.problems, err=True)
        sys.exit(exit_for(loaded.problems))


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8"
        raise Refused("file_not_found", f"{file} cannot be read: {reason}", "check the path") from None
