"""`jeton backup DEST`: a consistent copy of a store, which may be in use."""

from pathlib import Path

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors


@click.command("backup")
@click.argument("dest", type=click.Path())
@store_option
@json_option
def command(dest: str, store: str, as_json: bool) -> None:
    """Copy a store to a new file, as it is at one instant.

    The copy is a store of its own. Its unfinished runs go on if it is opened: what was in work is done again.
    """
    from jeton.hosts.sqlite import wall_ms
    from jeton.hosts.sqlite.tools.backup import backup

    with reporting_errors(as_json):
        copied = backup(Path(store).absolute(), Path(dest).absolute(), wall_ms())
        if as_json:
            echo_json({"path": str(copied.path), "store": copied.store, "runs": copied.runs, "origin": copied.origin})
        else:
            in_flight = copied.origin.in_flight
            echo(f"{printable(str(copied.path))}: {copied.runs} runs, {in_flight} of them with tasks in work")
