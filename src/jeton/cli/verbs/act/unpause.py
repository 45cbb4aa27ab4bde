"""`jeton unpause RUN`: go on."""

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from jeton.cli.options import app_option, json_option, store_option
from jeton.cli.output import reporting_errors, styled_status
from jeton.cli.selection import Done, Operation, Selection, carry_out, selection_options

if TYPE_CHECKING:
    from jeton.engine.engine import Engine
    from jeton.engine.views.record import RunRecord
    from jeton.model.state.run import RunStatus


@click.command("unpause")
@click.argument("run", required=False)
@selection_options
@app_option
@store_option
@json_option
def command(
    run: str | None,
    workflow: str | None,
    status: "RunStatus | None",
    dry_run: bool,
    app: str | None,
    store: str,
    as_json: bool,
) -> None:
    """Have a paused run go on, or all unfinished runs that a query finds.

    Without an owner they act here, until nothing is runnable. Exits with 5 if the run had ended already.
    """
    from jeton.cli.app import load_app

    async def unpause(engine: "Engine", run: str) -> Done:
        return True, await engine.unpause(run)

    query = Selection(run, workflow, status, dry_run)
    with reporting_errors(as_json):
        if app is not None:
            load_app(app)
        sys.exit(asyncio.run(carry_out(Operation("unpause", unpause, _said, acts=True), query, store, as_json)))


def _said(accepted: bool, record: "RunRecord") -> str:
    if not accepted:
        return f"{record.run_id} had ended already: {styled_status(record.status)}"
    if record.paused:
        return f"{record.run_id} will go on as soon as its owner, or `jeton resume`, takes it up"
    return f"{record.run_id} is {styled_status(record.status)}"
