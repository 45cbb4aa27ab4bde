"""`jeton context RUN`: a run's data."""

import asyncio
from typing import TYPE_CHECKING

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo_data, echo_json, reporting_errors

if TYPE_CHECKING:
    from jeton.engine.reading import Context


@click.command("context")
@click.argument("run")
@store_option
@json_option
def command(run: str, store: str, as_json: bool) -> None:
    """Show a run's data as {input, state, output}."""
    from jeton.engine.engine import open

    async def read() -> "Context":
        async with open(store, owner=False) as engine:
            return await engine.context(run)

    with reporting_errors(as_json):
        found = asyncio.run(read())
        if as_json:
            echo_json(found)
        else:
            echo_data(found)
