"""`jeton export RUN`: one run as a file that another store can take in."""

from pathlib import Path

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors


@click.command("export")
@click.argument("run")
@click.option("--out", metavar="FILE", type=click.Path(dir_okay=False), help="Where to; otherwise it is printed.")
@store_option
@json_option
def command(run: str, out: str | None, store: str, as_json: bool) -> None:
    """Write a run, with its definition and its whole history, as one JSON file.

    The run itself stays as it is: if it is unfinished and goes on in two stores, its tasks are done in both.
    """
    from jeton.hosts.sqlite.tools.portable import export_run
    from jeton.model.failure import Refused
    from jeton.model.ids import RunId

    with reporting_errors(as_json):
        file = export_run(Path(store).absolute(), RunId(run))
        if out is None:
            click.echo(file)
            return
        try:
            with Path(out).open("xb") as target:
                target.write(file)
        except FileExistsError:
            raise Refused("file_exists", f"there is something at {out} already", "name another file") from None
        except OSError as problem:
            raise Refused("not_written", f"{out} cannot be written: {problem}", "name another file") from None
        if as_json:
            echo_json({"run_id": run, "path": out, "bytes": len(file)})
        else:
            echo(f"{printable(out)}: run {printable(run)}, {len(file)} bytes")
