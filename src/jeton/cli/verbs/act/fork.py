"""`jeton fork RUN --at ENTRY`: a new run that shares another's history."""

import asyncio
import sys

import click

from jeton.cli.app import load_app
from jeton.cli.options import app_option, json_option, store_option, wait_option
from jeton.cli.output import reporting_errors
from jeton.cli.store import must_exist
from jeton.cli.verbs.act.run import start_and_follow
from jeton.engine.engine import Engine
from jeton.engine.input import read_value
from jeton.engine.run import Run
from jeton.model.json import Json


@click.command("fork")
@click.argument("run")
@click.option("--at", type=click.IntRange(min=0), required=True, metavar="ENTRY", help="The last journal entry shared.")
@click.option("--set", "edits", multiple=True, metavar="PATH=JSON", help="Edit the new run's state; may be repeated.")
@wait_option
@app_option
@store_option
@json_option
def command(
    run: str, at: int, edits: tuple[str, ...], wait_s: float | None, app: str | None, store: str, as_json: bool
) -> None:
    """Start a new run that shares a run's history up to a journal entry, and follow it to its end.

    Finished work in the shared history is not repeated. Entries are numbered from 0; `jeton events --trace --json`
    shows the entry of each decision.
    """

    with reporting_errors(as_json):
        writes = dict(map(_edit, edits))
        must_exist(store)
        load_app(app)

        async def fork(engine: Engine) -> Run:
            return await engine.fork(run, at, writes)

        sys.exit(asyncio.run(start_and_follow(fork, wait_s, store=store, as_json=as_json)))


def _edit(text: str) -> tuple[str, Json]:
    path, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text}: write PATH=JSON", param_hint="--set")
    return path, read_value(value, "--set")
