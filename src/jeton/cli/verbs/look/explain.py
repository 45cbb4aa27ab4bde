"""`jeton explain RUN`: why it did, or did not do, what it did."""

import asyncio
from typing import TYPE_CHECKING

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors

if TYPE_CHECKING:
    from jeton.engine.views.explain.views import Explanation


@click.command("explain")
@click.argument("run")
@click.option("--token", type=int, metavar="T", help="About one token.")
@click.option("--transition", type=int, metavar="I", help="About one transition, by its place in the definition.")
@store_option
@json_option
def command(run: str, token: int | None, transition: int | None, store: str, as_json: bool) -> None:
    """Say why a run, a token or a transition did what it did.

    What was considered at each routing, each condition with the values it read, who waits for whom and since when,
    and who stopped what.
    """
    from jeton.engine.engine import open
    from jeton.engine.views.explain import explained
    from jeton.engine.views.plain import plain

    async def ask() -> "Explanation":
        async with open(store, owner=False) as engine:
            return await engine.explain(run, token=token, transition=transition)

    with reporting_errors(as_json):
        explanation = asyncio.run(ask())
        if as_json:
            echo_json(plain(explanation))
        else:
            for line in explained(explanation).split("\n"):
                echo(printable(line))
