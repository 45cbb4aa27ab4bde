"""`jeton tokens RUN`: every token the run ever had."""

import asyncio
from typing import TYPE_CHECKING

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors, table

if TYPE_CHECKING:
    from jeton.engine.views.tokens import TokenView


@click.command("tokens")
@click.argument("run")
@store_option
@json_option
def command(run: str, store: str, as_json: bool) -> None:
    """List a run's tokens, ended ones included."""
    from jeton.engine.engine import open
    from jeton.engine.views.plain import plain

    async def listed() -> "tuple[TokenView, ...]":
        async with open(store, owner=False) as engine:
            return await engine.tokens(run)

    with reporting_errors(as_json):
        tokens = asyncio.run(listed())
        if as_json:
            echo_json({"tokens": [plain(token) for token in tokens]})
        else:
            titles = ("TOKEN", "NODE", "STATUS", "PATH", "PARENT", "ATTEMPT", "NOTE")
            for line in table(titles, [_row(token) for token in tokens]):
                echo(line)


def _row(token: "TokenView") -> tuple[str, ...]:
    parent = "" if token.parent is None else str(token.parent)
    return str(token.id), token.node, token.status, token.path, parent, str(token.attempt), printable(_note(token))


def _note(token: "TokenView") -> str:
    if token.reason is not None:
        return token.reason
    if token.status == "waiting_for_siblings":
        return f"at the fan-in of '{token.waits_at}'"
    if token.status == "waiting_for_subworkflow":
        return f"for run {token.child}"
    if token.due is not None or token.status in ("waiting_for_gate", "waiting_for_signal"):
        until = [] if token.due is None else [f"until {token.due.astimezone().isoformat(' ', 'seconds')[:19]}"]
        return ", ".join([*([token.label] if token.label else []), *until])
    return str(token.error.get("message", "")) if token.error is not None else ""
