"""`jeton retry RUN`: a new run that does again what another failed at."""

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from jeton.cli.options import app_option, json_option, store_option
from jeton.cli.output import reporting_errors

if TYPE_CHECKING:
    from jeton.engine.engine import Engine, Run


@click.command("retry")
@click.argument("run")
@click.option("--wait", "wait_s", type=click.FloatRange(min=0), metavar="S", help="Stay this long at most.")
@app_option
@store_option
@json_option
def command(run: str, wait_s: float | None, app: str | None, store: str, as_json: bool) -> None:
    """Fork a run that failed, timed out or is exhausted at its end, and follow the new run to its own.

    What succeeded is not done again. Exits with 5 if the run has not failed.
    """
    from jeton.cli.app import load_app
    from jeton.cli.verbs.act.fork import must_exist
    from jeton.cli.verbs.act.run import follow_begun

    async def begin(engine: "Engine") -> "Run":
        return await engine.retry(run)

    with reporting_errors(as_json):
        must_exist(store)
        if app is not None:
            load_app(app)
        sys.exit(asyncio.run(follow_begun(begin, wait_s, trace=False, store=store, as_json=as_json)))
