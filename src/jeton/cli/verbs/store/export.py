"""`jeton export RUN`: write one run to a file that another store can import."""

from pathlib import Path

import click

from jeton.api.exporting import Form, exported
from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors
from jeton.cli.store import ask, is_url, must_exist
from jeton.engine.stores import export_from
from jeton.model.failure import Refused


@click.command("export")
@click.argument("run")
@click.option("--out", metavar="FILE", type=click.Path(dir_okay=False), help="Write to this file.")
@click.option(
    "--as",
    "form",
    type=click.Choice(("file", "script", "spans")),
    default="file",
    show_default=True,
    help="A file to import, of a conversation a script, or OpenTelemetry spans.",
)
@click.option("--contents", is_flag=True, help="With --as spans: also what was said, and inputs and results of tools.")
@store_option
@json_option
def command(run: str, out: str | None, form: Form, contents: bool, store: str, as_json: bool) -> None:
    """Write a run, with its definition and its history, as one JSON file.

    With `--as script`, write what a conversation's models said as a scripted model profile, for tests.

    With `--as spans`, write the run and all that it called as one request of the OpenTelemetry protocol.

    The run stays in the store. If an unfinished run goes on in two stores, its tasks are done in both.
    """
    if contents and form != "spans":
        raise click.UsageError("--contents goes with --as spans")
    with reporting_errors(as_json):
        file = _exported_there(store, run, form, contents) if is_url(store) else _exported(store, run, form, contents)
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


def _exported(store: str, run: str, form: Form, contents: bool) -> bytes:
    if form == "file":
        return export_from(store, run)  # it needs no engine, and reads more of a damaged store
    must_exist(store)
    return ask(store, lambda engine: exported(engine, store, run, form, contents))


def _exported_there(url: str, run: str, form: Form, contents: bool) -> bytes:
    from jeton.api.client.connection import part  # the client is loaded for a server only
    from jeton.cli.remote import at_server

    query = {"as": form, "contents": contents or None}
    return at_server(url, lambda engine: engine.connection.download(f"/runs/{part(run)}/export", **query))
