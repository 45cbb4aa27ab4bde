"""`jeton retry RUN`: a new run that repeats what another failed at."""

import asyncio
import sys

import click

from jeton.cli.app import load_app
from jeton.cli.options import app_option, json_option, store_option, wait_option
from jeton.cli.output import reporting_errors
from jeton.cli.store import must_exist
from jeton.cli.verbs.act.run import start_and_follow
from jeton.engine.engine import Engine
from jeton.engine.run import Run


@click.command("retry")
@click.argument("run")
@wait_option
@app_option
@store_option
@json_option
def command(run: str, wait_s: float | None, app: str | None, store: str, as_json: bool) -> None:
    """Retry a run that failed, timed out or is exhausted: fork it at its end, and follow the new run.

    What succeeded is not repeated. Exits with 5 if the run has not failed.
    """

    async def retry(engine: Engine) -> Run:
        return await engine.retry(run)

    with reporting_errors(as_json):
        must_exist(store)
        load_app(app)
        sys.exit(asyncio.run(start_and_follow(retry, wait_s, store=store, as_json=as_json)))
