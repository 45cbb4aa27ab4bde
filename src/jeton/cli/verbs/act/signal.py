"""`jeton signal RUN NAME`: send a run a named value."""

import asyncio

import click

from jeton.cli.app import load_app
from jeton.cli.options import app_option, json_option, read_text, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors, styled_status
from jeton.cli.store import open_beside_owner, settled
from jeton.engine.input import read_value
from jeton.engine.views.plain import plain
from jeton.model.json import Json

SENTENCES = {
    "taken": "was received",
    "kept": "is kept until the run waits for it",
    "heard_before": "changes nothing: its key was received before",
    "sent": "is kept until the store's owner, or `jeton resume`, takes it up",
}


@click.command("signal")
@click.argument("run")
@click.argument("name")
@click.option("--value", default="null", metavar="JSON|@FILE", help="The signal's value.")
@click.option("--key", metavar="KEY", help="An idempotency key: the same key again changes nothing.")
@app_option
@store_option
@json_option
def command(run: str, name: str, value: str, key: str | None, app: str | None, store: str, as_json: bool) -> None:
    """Send a run a signal.

    Exits with 5 if the signal is refused: the value does not fit, or the run has ended.
    """
    with reporting_errors(as_json):
        load_app(app)
        given = read_value(read_text(value, "--value"), "--value")
        asyncio.run(_signal(store, run, name, given, key, as_json))


async def _signal(store: str, run: str, name: str, value: Json, key: str | None, as_json: bool) -> None:
    async with open_beside_owner(store, work=True) as engine:
        reply = await engine.signal(run, name, value, key=key)
        record = await settled(engine, run, reply.record)
    if as_json:
        echo_json({"accepted": True, "outcome": reply.outcome, **plain(record)})
    else:
        echo(f"the signal '{printable(name)}' {SENTENCES[reply.outcome]}; {run} is {styled_status(record.status)}")
