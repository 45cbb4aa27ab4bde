"""`jeton ls`: the runs of a store, newest first."""

import click

from jeton.cli.options import ENDED, UNFINISHED, json_option, store_option
from jeton.cli.output import echo, echo_json, echo_table, local_time, printable, reporting_errors
from jeton.cli.store import ask, set_aside_sentences
from jeton.engine.engine import Engine
from jeton.engine.views.plain import plain
from jeton.engine.views.record import RunRecord
from jeton.model.ids import RunId
from jeton.model.json import JsonObject
from jeton.model.state.run import RunStatus

FLAWS = {"run_damaged": ", damaged", "run_set_aside": ", set aside"}


@click.command("ls")
@click.option("--workflow", metavar="NAME", help="List runs of this workflow only.")
@click.option("--status", type=click.Choice(UNFINISHED + ENDED), help="List runs with this status only.")
@click.option("--after", metavar="RUN", help="List runs older than this one: the last run of the previous page.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 10_000), help="List at most this many.")
@store_option
@json_option
def command(
    workflow: str | None, status: RunStatus | None, after: str | None, limit: int, store: str, as_json: bool
) -> None:
    """List runs, newest first."""
    with reporting_errors(as_json):

        async def runs_and_set_aside(engine: Engine) -> tuple[tuple[RunRecord, ...], dict[RunId, str]]:
            found = await engine.list(workflow=workflow, status=status, after=after, limit=limit)
            return found, set_aside_sentences(engine)

        runs, set_aside = ask(store, runs_and_set_aside)
        if as_json:
            shown = {"runs": [_without_firings(plain(run)) for run in runs]}
            echo_json({**shown, "set_aside": set_aside} if set_aside else shown)
            return
        echo_table(("RUN", "WORKFLOW", "STATUS", "SUBMITTED", "TOOK"), [_row(run) for run in runs], "no runs")
        for sentence in set_aside.values():
            echo(printable(sentence), err=True)


def _without_firings(run: JsonObject) -> JsonObject:
    """Lists leave `fired` unset: it is looked up for single runs only."""
    return {key: value for key, value in run.items() if key != "fired"}


def _row(run: RunRecord) -> tuple[str, ...]:
    took = "" if run.completed_at is None else f"{(run.completed_at - run.submitted_at).total_seconds():.1f} s"
    flaw = "" if run.error is None or run.ended else FLAWS.get(run.error.type, "")
    status = f"{run.status}{flaw}"
    return run.run_id, f"{run.workflow}@{run.version}", status, local_time(run.submitted_at), took
