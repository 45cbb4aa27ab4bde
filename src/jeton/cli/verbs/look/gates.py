"""`jeton gates`: open gates."""

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo_json, echo_table, local_time, plain_list, printable, reporting_errors
from jeton.cli.store import ask
from jeton.engine.views.gates import GateView


@click.command("gates")
@click.argument("run", required=False)
@store_option
@json_option
def command(run: str | None, store: str, as_json: bool) -> None:
    """List open gates: all of them, or those of a run and of the runs it called."""
    with reporting_errors(as_json):
        gates = ask(store, lambda engine: engine.gates(run))
        if as_json:
            echo_json({"gates": plain_list(gates)})
        else:
            titles = ("GATE", "NODE", "PATH", "SINCE", "ANSWERS", "ASKED", "TITLE")
            echo_table(titles, [_row(gate) for gate in gates], "no gate is open")


def _row(gate: GateView) -> tuple[str, ...]:
    since, answers = local_time(gate.since), f"{gate.answers} of {gate.approvals}"
    asked = printable(", ".join(gate.assignees)) or "anybody"
    return gate.id, gate.node, gate.path, since, answers, asked, printable(gate.title)
