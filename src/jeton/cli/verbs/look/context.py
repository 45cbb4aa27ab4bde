"""`jeton context RUN`: a run's data."""

import click

from jeton.cli.options import at_option, json_option, store_option
from jeton.cli.output import echo_data, echo_json, reporting_errors
from jeton.cli.store import ask


@click.command("context")
@click.argument("run")
@click.option("--token", type=int, metavar="ID", help="Show the data as this token sees it, with its branch.")
@at_option
@store_option
@json_option
def command(run: str, token: int | None, at: int | None, store: str, as_json: bool) -> None:
    """Show a run's data as {input, state, output}; with --token also {branch}: its index, item and output."""
    with reporting_errors(as_json):
        context = ask(store, lambda engine: engine.context(run, token=token, at=at))
        (echo_json if as_json else echo_data)(context)
