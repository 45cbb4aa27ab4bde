"""`jeton cancel RUN`: stop a run."""

import click

from jeton.cli.chatting.stop import stop_turns
from jeton.cli.options import json_option, store_option
from jeton.cli.output import reporting_errors, styled_status
from jeton.cli.selection import Changed, Operation, Selection, carry_out, selection_options
from jeton.engine.engine import Engine
from jeton.engine.views.record import RunRecord


@click.command("cancel")
@click.option("--reason", default="", metavar="TEXT", help="The reason, kept in the run's history.")
@click.option("--turn", type=click.IntRange(min=1), metavar="ID", help="Of a conversation: stop this turn only.")
@selection_options
@store_option
@json_option
def command(selection: Selection, reason: str, turn: int | None, store: str, as_json: bool) -> None:
    """Cancel a run, or all unfinished runs that --workflow and --status select; or stop the turns of a conversation.

    Exits with 5 if the run had already ended.
    """

    with reporting_errors(as_json):
        if selection.run is not None and stop_turns(store, selection.run, turn, reason, selection.dry_run, as_json):
            return
    if turn is not None:
        raise click.UsageError("--turn is for a conversation")

    async def cancel(engine: Engine, run: str) -> Changed:
        answer = await engine.cancel(run, reason)
        return answer.outcome, answer.record

    carry_out(Operation("cancel", cancel, "the cancellation", _sentence), selection, store, as_json)


def _sentence(record: RunRecord) -> str:
    return f"{record.run_id} is {styled_status(record.status)}"
