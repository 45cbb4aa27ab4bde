"""`jeton signal RUN NAME`: a value under a name, for a run that waits for it, or will."""

import asyncio

import click

from jeton.cli.options import app_option, json_option, read_text, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors, styled_status
from jeton.cli.store import open_beside_owner, wait_until_idle

SAID = {
    "taken": "was heard",
    "kept": "is kept until somebody waits for it",
    "heard_before": "changes nothing: its key was heard before",
    "sent": "lies there until its owner, or `jeton resume`, takes it up",
}


@click.command("signal")
@click.argument("run")
@click.argument("name")
@click.option("--value", default="null", metavar="JSON|@FILE", help="What it brings.")
@click.option("--key", metavar="K", help="Send it once: the same key again changes nothing.")
@app_option
@store_option
@json_option
def command(run: str, name: str, value: str, key: str | None, app: str | None, store: str, as_json: bool) -> None:
    """Send a run a signal.

    Exits with 5 if it is not taken: the value does not fit, or the run has ended.
    """
    from jeton.cli.app import load_app

    with reporting_errors(as_json):
        if app is not None:
            load_app(app)
        asyncio.run(_signal(store, run, name, value, key, as_json))


async def _signal(store: str, run: str, name: str, given: str, key: str | None, as_json: bool) -> None:
    from jeton.engine.input import read_value
    from jeton.engine.views.plain import plain

    value = read_value(read_text(given, "--value"), "--value")
    async with open_beside_owner(store, work=True) as engine:
        reply = await engine.signal(run, name, value, key=key)
        await wait_until_idle(engine)
        record = await engine.get(run)
    if as_json:
        echo_json({"accepted": True, "outcome": reply.outcome, **plain(record)})
    else:
        echo(f"the signal '{printable(name)}' {SAID[reply.outcome]}; {run} is {styled_status(record.status)}")
