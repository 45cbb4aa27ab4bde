"""`jeton import FILE`: take in a run that `jeton export` wrote."""

import sys
from pathlib import Path

import click

from jeton.cli.options import Exit, json_option, store_option
from jeton.cli.output import echo, echo_json, echo_refusal, printable, reporting_errors


@click.command("import")
@click.argument("file", type=click.Path(dir_okay=False))
@store_option
@json_option
def command(file: str, store: str, as_json: bool) -> None:
    """Put an exported run into a store. An altered file is refused, and so is a run that is there already.

    A run that has not ended goes on when the store's owner next looks after its runs, or with `jeton resume`.
    """
    from jeton.hosts.sqlite.tools.portable import import_run
    from jeton.model.failure import Refused

    try:
        body = Path(file).read_bytes()
    except OSError as problem:
        refused = Refused("file_not_found", f"{file} cannot be read: {problem.strerror}", "check the path")
        echo_refusal(refused, as_json)
        sys.exit(Exit.NOT_FOUND)
    with reporting_errors(as_json):
        run = import_run(Path(store).absolute(), body)
        if as_json:
            echo_json({"run_id": run})
        else:
            echo(f"run {printable(run)}")
