"""`jeton pause RUN`: start nothing new; running tasks finish, and their results count."""

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import styled_status
from jeton.cli.selection import Changed, Operation, Selection, carry_out, selection_options
from jeton.engine.engine import Engine
from jeton.engine.views.record import RunRecord


@click.command("pause")
@selection_options
@store_option
@json_option
def command(selection: Selection, store: str, as_json: bool) -> None:
    """Pause a run and the runs it called, or all unfinished runs that --workflow and --status select.

    Running tasks finish; nothing new starts until `jeton unpause`. Exits with 5 if the run had already ended.
    """

    async def pause(engine: Engine, run: str) -> Changed:
        return True, await engine.pause(run)

    carry_out(Operation("pause", pause, _sentence), selection, store, as_json)


def _sentence(accepted: bool, record: RunRecord) -> str:
    if not accepted:
        return f"{record.run_id} had already ended: {styled_status(record.status)}"
    if not record.paused:
        return f"{record.run_id} will be paused as soon as its owner, or `jeton resume`, takes it up"
    return f"{record.run_id} is paused ({styled_status(record.status)})"
