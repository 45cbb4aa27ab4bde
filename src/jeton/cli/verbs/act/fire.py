"""`jeton fire NAME`: fire a trigger by hand, beside the store's owner or without one."""

import asyncio

import click

from jeton.cli.options import json_option, read_text, store_option
from jeton.cli.output import echo, echo_json, reporting_errors
from jeton.cli.store import open_beside_owner


@click.command("fire")
@click.argument("name")
@click.option("--input", "given", metavar="JSON|@FILE", help="What the trigger is given.")
@click.option("--delivery", metavar="ID", help="The same id fires once.")
@store_option
@json_option
def command(name: str, given: str | None, delivery: str | None, store: str, as_json: bool) -> None:
    """Fire a trigger. The run begins at once if the store has an owner, else with the next `jeton resume`.

    Exits with 5 if the trigger may not fire now.
    """

    async def fire() -> None:
        from jeton.engine.input import read_input
        from jeton.engine.views.plain import plain

        payload = None if given is None else read_input(read_text(given, "--input"))
        async with open_beside_owner(store) as engine:
            firing = await engine.fire(name, payload, delivery_id=delivery)
        if as_json:
            echo_json(plain(firing))
        else:
            echo(f"{firing.trigger} fired {firing.run_id}")

    with reporting_errors(as_json):
        asyncio.run(fire())
