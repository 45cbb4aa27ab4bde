"""`jeton backup DEST`: a consistent copy of a store, which may be in use."""

import time

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import counted, echo, echo_json, printable, reporting_errors
from jeton.cli.store import local_only
from jeton.engine.stores import backup_store


@click.command("backup")
@click.argument("dest", type=click.Path())
@store_option
@json_option
def command(dest: str, store: str, as_json: bool) -> None:
    """Copy a store to a new file, as it is at one instant.

    The copy is an independent store: unfinished runs go on in it when it is opened, and tasks that were running are
    repeated there.
    """
    with reporting_errors(as_json):
        local_only(store, "backup", "run it where the store is, with --store: it works beside the server")
        copied = backup_store(store, dest, time.time_ns() // 1_000_000)
        if as_json:
            echo_json({"path": str(copied.path), "store": copied.store, "runs": copied.runs, "origin": copied.origin})
        else:
            runs, in_flight = counted(copied.runs, "run"), copied.origin.in_flight
            echo(f"{printable(str(copied.path))}: {runs}, {in_flight} of them with running tasks")
