"""`jeton export RUN`: write one run to a file that another store can import."""

from pathlib import Path

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors
from jeton.engine.stores import export_from
from jeton.model.failure import Refused


@click.command("export")
@click.argument("run")
@click.option("--out", metavar="FILE", type=click.Path(dir_okay=False), help="Write to this file.")
@store_option
@json_option
def command(run: str, out: str | None, store: str, as_json: bool) -> None:
    """Write a run, with its definition and its history, as one JSON file.

    The run stays in the store. If an unfinished run goes on in two stores, its tasks are done in both.
    """
    with reporting_errors(as_json):
        file = export_from(store, run)
        if out is None:
            click.echo(file)
            return
        try:
            with Path(out).open("xb") as target:
                target.write(file)
        except FileExistsError:
            raise Refused("file_exists", f"{out} already exists", "name another file") from None
        except OSError as problem:
            raise Refused("not_written", f"{out} cannot be written: {problem}", "name another file") from None
        if as_json:
            echo_json({"run_id": run, "path": out, "bytes": len(file)})
        else:
            echo(f"{printable(out)}: run {printable(run)}, {len(file)} bytes")
