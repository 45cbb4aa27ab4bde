"""`jeton what-if RUN TOKEN`: the decisions a run would make, without making them."""

import click
from msgspec import UNSET

from jeton.cli.options import json_option, read_text, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors, short_json, styled_status
from jeton.cli.store import ask
from jeton.engine.input import read_value
from jeton.engine.views.plain import plain
from jeton.engine.views.what_if import WhatIf


@click.command("what-if")
@click.argument("run")
@click.argument("token", type=int)
@click.option("--result", metavar="JSON|@FILE", help="It finishes with this result, answer or signal value.")
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
    """Show what a run would decide if a token finished, failed or arrived at a fan-in. Changes nothing."""
    with reporting_errors(as_json):
        value = UNSET if result is None else read_value(read_text(result, "--result"), "--result")
        found = ask(
            store,
            lambda engine: engine.simulate(run, token, result=value, failure=failure, arrives_at=arrives_at),
        )
        if as_json:
            echo_json(plain(found))
        else:
            _echo(found)


def _echo(found: WhatIf) -> None:
    for decision in found.decisions:
        fields = [f"{key}={short_json(value)}" for key, value in decision.items() if key != "do"]
        echo(f"{printable(str(decision['do'])):<16} {'  '.join(fields)}".rstrip())
    echo(f"{found.run_id} would be {styled_status(found.status)}")
