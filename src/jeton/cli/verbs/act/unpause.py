"""`jeton unpause RUN`: let a paused run go on."""

import click

from jeton.cli.app import load_app
from jeton.cli.options import app_option, json_option, store_option
from jeton.cli.output import reporting_errors, styled_status
from jeton.cli.selection import Changed, Operation, Selection, carry_out, selection_options
from jeton.engine.engine import Engine
from jeton.engine.views.record import RunRecord


@click.command("unpause")
@selection_options
@app_option
@store_option
@json_option
def command(selection: Selection, app: str | None, store: str, as_json: bool) -> None:
    """Let a paused run go on, or all unfinished runs that --workflow and --status select.

    If no other process owns the store, this one drives the runs until each has ended or waits. Exits with 5 if the run
    had already ended.
    """

    async def unpause(engine: Engine, run: str) -> Changed:
        record = await engine.unpause(run)
        return "sent" if record.paused else "accepted", record

    with reporting_errors(as_json):
        load_app(app)
        carry_out(
            Operation("unpause", unpause, "the request to go on", _sentence, works=True), selection, store, as_json
        )


def _sentence(record: RunRecord) -> str:
    return f"{record.run_id} is {styled_status(record.status)}"
