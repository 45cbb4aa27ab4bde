"""`jeton prune`: remove old runs from a store."""

import asyncio

import click

from jeton.cli.options import DURATION, ENDED, json_option, store_option
from jeton.cli.output import counted, echo, echo_json, reporting_errors
from jeton.cli.store import open_beside_owner
from jeton.model.state.run import RunStatus


@click.command("prune")
@click.option(
    "--older-than",
    "older_than_ms",
    type=DURATION,
    default="30d",
    show_default=True,
    metavar="AGE",
    help="Remove runs that ended longer ago than this: a number with s, m, h, d or w.",
)
@click.option(
    "--status",
    "statuses",
    type=click.Choice(ENDED),
    multiple=True,
    help="Remove runs with this status only; may be repeated.",
)
@click.option("--workflow", metavar="NAME", help="Remove runs of this workflow only.")
@click.option("--dry-run", is_flag=True, help="Count the runs, and remove none.")
@store_option
@json_option
def command(
    older_than_ms: int,
    statuses: tuple[RunStatus, ...],
    workflow: str | None,
    dry_run: bool,
    store: str,
    as_json: bool,
) -> None:
    """Remove ended runs with their history, data and artifacts.

    Runs that have not ended are never removed. Exits with 5 if another process owns the store.
    """

    async def prune() -> int:
        async with open_beside_owner(store) as engine:
            pruned = await engine.prune(
                older_than_ms=older_than_ms, statuses=statuses or ENDED, workflow=workflow, dry_run=dry_run
            )
            return pruned.runs

    with reporting_errors(as_json):
        runs = asyncio.run(prune())
        if as_json:
            echo_json({"pruned": 0, "would_prune": runs} if dry_run else {"pruned": runs})
        else:
            echo(f"would remove {counted(runs, 'run')}" if dry_run else f"removed {counted(runs, 'run')}")
