"""`jeton import-flow FILE`: a graph that another editor exported, as a library file."""

import sys
from pathlib import Path

import click

from jeton.cli.options import Exit, json_option, store_option
from jeton.cli.output import echo, echo_json, echo_problems, echo_refusal, reporting_errors


@click.command("import-flow")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--name", help="What the flow is called, if the export does not say.")
@click.option("--output", type=click.Path(dir_okay=False), help="Write to this file.")
@store_option
@json_option
def command(file: str, name: str | None, output: str | None, store: str, as_json: bool) -> None:
    """Turn an exported graph into a library file, and say what has to be mended in it before it can run."""
    from jeton.definitions import library_from
    from jeton.definitions.import_flow import import_flow
    from jeton.engine.build.source import KINDS
    from jeton.executor import action_functions
    from jeton.model.definition.workflow import Library
    from jeton.model.failure import Refused

    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is not UTF-8"
        refused = Refused("file_not_found", f"{file} cannot be read: {reason}", "check the path")
        echo_refusal(refused, as_json)
        sys.exit(Exit.NOT_FOUND)
    with reporting_errors(as_json):
        imported = import_flow(text, file, name or "imported")
        known = Library(actions=action_functions())
        loaded = library_from(imported.library, known, file=output or "", kinds=KINDS)
        if output is not None:
            Path(output).write_text(imported.text, encoding="utf-8")
        if as_json:
            echo_json(
                {"flow": imported.name, "library": imported.library, "ok": loaded.ok, "problems": loaded.problems}
            )
            return
        if output is None:
            echo(imported.text.rstrip("\n"))
        echo_problems(loaded.problems, as_json=False)
