"""`jeton cancel RUN`: stop a run, beside its owner or without one."""

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import reporting_errors, styled_status
from jeton.cli.selection import Done, Operation, Selection, carry_out, selection_options

if TYPE_CHECKING:
    from jeton.engine.engine import Engine
    from jeton.engine.views.record import RunRecord
    from jeton.model.state.run import RunStatus


@click.command("cancel")
@click.argument("run", required=False)
@click.option("--reason", default="", metavar="TEXT", help="Why; kept in the run's history.")
@selection_options
@store_option
@json_option
def command(
    run: str | None,
    reason: str,
    workflow: str | None,
    status: "RunStatus | None",
    dry_run: bool,
    store: str,
    as_json: bool,
) -> None:
    """Cancel a run, or all unfinished runs that a query finds.

    Exits with 5 if the run had ended already.
    """

    async def cancel(engine: "Engine", run: str) -> Done:
        answer = await engine.cancel(run, reason)
        return answer.accepted, answer.record

    query = Selection(run, workflow, status, dry_run)
    with reporting_errors(as_json):
        sys.exit(asyncio.run(carry_out(Operation("cancel", cancel, _said), query, store, as_json)))


def _said(accepted: bool, record: "RunRecord") -> str:
    if accepted and not record.ended:
        return f"{record.run_id} will be cancelled as soon as its owner, or `jeton resume`, takes it up"
    word = "is" if accepted else "had ended already:"
    return f"{record.run_id} {word} {styled_status(record.status)}"
