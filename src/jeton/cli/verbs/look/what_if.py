"""`jeton what-if RUN TOKEN`: what would be decided, without deciding it."""

import asyncio
from typing import TYPE_CHECKING

import click

from jeton.cli.options import json_option, read_text, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors, short_json, styled_status

if TYPE_CHECKING:
    from jeton.engine.views.what_if import WhatIf


@click.command("what-if")
@click.argument("run")
@click.argument("token", type=int)
@click.option("--result", metavar="JSON|@FILE", help="It finishes with this: a result, an answer, a signal's value.")
@click.option("--failure", metavar="TEXT", help="It fails with this message.")
@click.option("--arrives-at", metavar="NODE", help="It arrives at the fan-in before this node.")
@store_option
@json_option
def command(
    run: str,
    token: int,
    result: str | None,
    failure: str | None,
    arrives_at: str | None,
    store: str,
    as_json: bool,
) -> None:
    """Say what a run would decide if one of its tokens finished, failed or arrived at a fan-in. Nothing is changed."""
    from msgspec import UNSET

    from jeton.engine.engine import open
    from jeton.engine.input import read_value
    from jeton.engine.views.plain import plain

    async def ask() -> "WhatIf":
        value = UNSET if result is None else read_value(read_text(result, "--result"), "--result")
        async with open(store, owner=False) as engine:
            return await engine.simulate(run, token, result=value, failure=failure, arrives_at=arrives_at)

    with reporting_errors(as_json):
        found = asyncio.run(ask())
        if as_json:
            echo_json(plain(found))
        else:
            _echo(found)


def _echo(found: "WhatIf") -> None:
    for decision in found.decisions:
        fields = [f"{key}={short_json(value)}" for key, value in decision.items() if key != "do"]
        echo(f"{printable(str(decision['do'])):<16} {'  '.join(fields)}".rstrip())
    echo(f"{found.run_id} would be {styled_status(found.status)}")
