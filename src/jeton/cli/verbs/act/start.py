"""`jeton start NAME`: start a run of what is deployed, and follow it to its end."""

import asyncio
import sys

import click

from jeton.cli.app import load_app
from jeton.cli.options import app_option, json_option, read_text, store_option, wait_option
from jeton.cli.output import reporting_errors
from jeton.cli.store import must_exist
from jeton.cli.verbs.act.run import start_and_follow
from jeton.engine.engine import Engine
from jeton.engine.input import read_input
from jeton.engine.run import Run


@click.command("start")
@click.argument("name")
@click.option("--input", "given", default="{}", metavar="JSON|@FILE", help="The run's input; @- reads standard input.")
@click.option("--key", metavar="KEY", help="An idempotency key: the same key again gives the same run.")
@wait_option
@app_option
@store_option
@json_option
def command(
    name: str, given: str, key: str | None, wait_s: float | None, app: str | None, store: str, as_json: bool
) -> None:
    """Start a run of a workflow or flow that is deployed, and follow it to its end.

    Exits with 0 if the run completed, with 1 if it ended otherwise, with 4 if it has not ended.
    """

    with reporting_errors(as_json):
        must_exist(store)
        load_app(app)
        value = read_input(read_text(given, "--input"))

        async def start(engine: Engine) -> Run:
            return await engine.start(name, value, key=key)

        sys.exit(asyncio.run(start_and_follow(start, wait_s, store=store, as_json=as_json)))
