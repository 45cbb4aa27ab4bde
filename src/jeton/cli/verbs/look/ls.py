"""`jeton ls`: the runs of a store, newest first."""

import asyncio
from typing import TYPE_CHECKING

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, reporting_errors, table

if TYPE_CHECKING:
    from jeton.engine.views.record import RunRecord
    from jeton.model.json import JsonObject
    from jeton.model.state.run import RunStatus

STATUSES = ("submitted", "running", "waiting", "completed", "failed", "cancelled", "timed_out", "exhausted")


@click.command("ls")
@click.option("--workflow", metavar="NAME", help="Only runs of this workflow.")
@click.option("--status", type=click.Choice(STATUSES), help="Only runs with this status.")
@click.option("--after", metavar="RUN", help="Only runs older than this one: the last of the page before.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1, 10_000), help="At most this many.")
@store_option
@json_option
def command(
    workflow: str | None, status: "RunStatus | None", after: str | None, limit: int, store: str, as_json: bool
) -> None:
    """List runs, newest first."""
    from jeton.engine.engine import open
    from jeton.engine.views.plain import plain

    async def listed() -> "tuple[RunRecord, ...]":
        async with open(store, owner=False) as engine:
            return await engine.list(workflow=workflow, status=status, after=after, limit=limit)

    with reporting_errors(as_json):
        runs = asyncio.run(listed())
        if as_json:
            echo_json({"runs": [_without_firings(plain(run)) for run in runs]})
        elif not runs:
            echo("no runs")
        else:
            for line in table(("RUN", "WORKFLOW", "STATUS", "SUBMITTED", "TOOK"), [_row(run) for run in runs]):
                echo(line)


def _without_firings(run: "JsonObject") -> "JsonObject":
    """What a run set off is looked up for one run at a time."""
    return {key: value for key, value in run.items() if key != "fired"}


def _row(run: "RunRecord") -> tuple[str, ...]:
    took = "" if run.completed_at is None else f"{(run.completed_at - run.submitted_at).total_seconds():.1f} s"
    submitted = run.submitted_at.astimezone().isoformat(" ", "seconds")[:19]
    damaged = run.error is not None and run.error.type == "run_damaged"
    status = f"{run.status}, damaged" if damaged else run.status
    return run.run_id, f"{run.workflow}@{run.version}", status, submitted, took
