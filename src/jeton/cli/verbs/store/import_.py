"""`jeton import FILE`: import a run that `jeton export` wrote."""

import time
from pathlib import Path

import click

from jeton.actor.whole.portable import MAX_FILE_BYTES, ImportedRun
from jeton.cli.options import given_options, json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors, styled_status
from jeton.cli.store import local_only
from jeton.engine.stores import import_into
from jeton.engine.views.plain import plain
from jeton.model.failure import Refused
from jeton.model.state.run import TERMINAL


@click.command("import")
@click.argument("file", type=click.Path(dir_okay=False))
@store_option
@json_option
def command(file: str, store: str, as_json: bool) -> None:
    """Import an exported run into a store. Refuses an altered file, and a run that the store already has.

    Its definition is checked like any other. An unfinished run is paused, and what it would call is listed: look at it,
    and let it go on with `jeton unpause RUN`. Exits with 2 if the definition has errors.
    """
    with reporting_errors(as_json):
        local_only(store, "import", "run it where the store is, with --store: it works beside the server")
        run = import_into(store, _content(file), time.time_ns() // 1_000_000, file)
        if as_json:
            echo_json(plain(run))
        else:
            _echo(run)


def _echo(run: ImportedRun) -> None:
    name = printable(run.run_id)
    state = "paused" if run.status not in TERMINAL else styled_status(run.status)
    echo(f"run {name} of {run.workflow}@{run.version} is {state}")
    if run.status in TERMINAL:
        return
    if run.would_call:
        echo("if it goes on, it may call:")
    for call in run.would_call:
        echo(f"    {printable(call.kind)}: {printable(call.target)}")
    echo(f"to let it go on: jeton unpause {name}{given_options()}")


def _content(file: str) -> bytes:
    try:
        with Path(file).open("rb") as source:
            return source.read(MAX_FILE_BYTES + 1)  # one byte too many is refused
    except OSError as problem:
        raise Refused("file_not_found", f"{file} cannot be read: {problem.strerror}", "check the path") from None
