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
        record = await engine.pause(run)
        return "accepted" if record.paused else "sent", record

    carry_out(Operation("pause", pause, "the pause", _sentence), selection, store, as_json)


def _sentence(record: RunRecord) -> str:
    return f"{record.run_id} is paused ({styled_status(record.status)})"
