"""`jeton pause RUN`: begin nothing new; what is under way finishes, and its results count."""

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


@click.command("pause")
@click.argument("run", required=False)
@selection_options
@store_option
@json_option
def command(
    run: str | None, workflow: str | None, status: "RunStatus | None", dry_run: bool, store: str, as_json: bool
) -> None:
    """Pause a run and those it called, or all unfinished runs that a query finds.

    Nothing new begins until `jeton unpause`. Exits with 5 if the run had ended already.
    """

    async def pause(engine: "Engine", run: str) -> Done:
        return True, await engine.pause(run)

    query = Selection(run, workflow, status, dry_run)
    with reporting_errors(as_json):
        sys.exit(asyncio.run(carry_out(Operation("pause", pause, _said), query, store, as_json)))


def _said(accepted: bool, record: "RunRecord") -> str:
    if not accepted:
        return f"{record.run_id} had ended already: {styled_status(record.status)}"
    if not record.paused:
        return f"{record.run_id} will be paused as soon as its owner, or `jeton resume`, takes it up"
    return f"{record.run_id} is paused ({styled_status(record.status)})"
