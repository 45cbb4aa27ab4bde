"""`jeton gates`: what waits for a person."""

import asyncio
from typing import TYPE_CHECKING

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors, table

if TYPE_CHECKING:
    from jeton.engine.views.gates import GateView


@click.command("gates")
@click.argument("run", required=False)
@store_option
@json_option
def command(run: str | None, store: str, as_json: bool) -> None:
    """List the gates that are open: all of them, or those of a run and of the runs it called."""
    from jeton.engine.engine import open
    from jeton.engine.views.plain import plain

    async def listed() -> "tuple[GateView, ...]":
        async with open(store, owner=False) as engine:
            return await engine.gates(run)

    with reporting_errors(as_json):
        gates = asyncio.run(listed())
        if as_json:
            echo_json({"gates": [plain(gate) for gate in gates]})
        elif not gates:
            echo("no gate is open")
        else:
            for line in table(("GATE", "NODE", "PATH", "SINCE", "ANSWERS", "ASKED", "TITLE"), [_row(g) for g in gates]):
                echo(line)


def _row(gate: "GateView") -> tuple[str, ...]:
    since = gate.since.astimezone().isoformat(" ", "seconds")[:19]
    asked = printable(", ".join(gate.assignees)) or "anybody"
    return gate.id, gate.node, gate.path, since, f"{gate.answers} of {gate.approvals}", asked, printable(gate.title)
