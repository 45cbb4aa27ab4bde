"""`jeton fork RUN --at ENTRY`: a new run that shares another's history."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jeton.cli.options import app_option, json_option, store_option
from jeton.cli.output import reporting_errors

if TYPE_CHECKING:
    from jeton.engine.engine import Engine, Run
    from jeton.model.json import Json


@click.command("fork")
@click.argument("run")
@click.option("--at", type=click.IntRange(min=0), required=True, metavar="ENTRY", help="The last journal entry shared.")
@click.option("--set", "edits", multiple=True, metavar="PATH=JSON", help="Write this into its state first.")
@click.option("--wait", "wait_s", type=click.FloatRange(min=0), metavar="S", help="Stay this long at most.")
@app_option
@store_option
@json_option
def command(
    run: str, at: int, edits: tuple[str, ...], wait_s: float | None, app: str | None, store: str, as_json: bool
) -> None:
    """Make a new run that shares a run's history up to an entry, and follow it to its end.

    What was done by then is not done again. Entries are numbered from 0; `jeton events --trace --json` has the entry of
    each decision.
    """
    from jeton.cli.app import load_app
    from jeton.cli.verbs.act.run import follow_begun

    writes: dict[str, Json] = {}

    async def begin(engine: "Engine") -> "Run":
        return await engine.fork(run, at, writes)

    with reporting_errors(as_json):
        writes.update(map(_edit, edits))
        must_exist(store)
        if app is not None:
            load_app(app)
        sys.exit(asyncio.run(follow_begun(begin, wait_s, trace=False, store=store, as_json=as_json)))


def must_exist(store: str) -> None:
    """A store that is not there has no runs, and is not to be made."""
    from jeton.model.failure import Refused

    if not Path(store).exists():
        raise Refused("no_store", f"there is no store at {store}", "check the path, or set JETON_STORE")


def _edit(text: str) -> "tuple[str, Json]":
    from jeton.engine.input import read_value

    path, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text}: write PATH=JSON", param_hint="--set")
    return path, read_value(value, "--set")
