"""`jeton fire NAME`: fire a trigger by hand."""

import asyncio

import click

from jeton.cli.options import json_option, read_text, store_option
from jeton.cli.output import echo, echo_json, reporting_errors
from jeton.cli.store import open_beside_owner
from jeton.engine.input import read_input
from jeton.engine.views.firings import FiringView
from jeton.engine.views.plain import plain
from jeton.model.json import Json


@click.command("fire")
@click.argument("name")
@click.option("--input", "given", metavar="JSON|@FILE", help="The payload that the trigger receives.")
@click.option("--delivery", metavar="ID", help="The delivery's id: the same id fires only once.")
@store_option
@json_option
def command(name: str, given: str | None, delivery: str | None, store: str, as_json: bool) -> None:
    """Fire a trigger. Its run begins at once if the store has an owner, otherwise with the next `jeton resume`.

    Exits with 5 if the trigger may not fire now.
    """

    async def fire(payload: Json) -> FiringView:
        async with open_beside_owner(store) as engine:
            return await engine.fire(name, payload, delivery_id=delivery)

    with reporting_errors(as_json):
        firing = asyncio.run(fire(None if given is None else read_input(read_text(given, "--input"))))
        if as_json:
            echo_json(plain(firing))
        else:
            echo(f"{firing.trigger} fired {firing.run_id}")
