"""`jeton import FILE`: import a run that `jeton export` wrote."""

from pathlib import Path

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors
from jeton.engine.stores import import_into
from jeton.model.failure import Refused


@click.command("import")
@click.argument("file", type=click.Path(dir_okay=False))
@store_option
@json_option
def command(file: str, store: str, as_json: bool) -> None:
    """Import an exported run into a store. Refuses an altered file, and a run that the store already has.

    An unfinished run goes on when the store's owner notices it, or with `jeton resume`.
    """
    with reporting_errors(as_json):
        run = import_into(store, _content(file))
        if as_json:
            echo_json({"run_id": run})
        else:
            echo(f"run {printable(run)}")


def _content(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as problem:
        raise Refused("file_not_found", f"{file} cannot be read: {problem.strerror}", "check the path") from None
