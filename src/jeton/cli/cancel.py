"""`jeton cancel RUN`: stop a run, beside its owner or without one."""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jeton.cli.ls import STATUSES
from jeton.cli.options import Exit, json_option, store_option
from jeton.cli.say import answering, say, say_json, styled_status

if TYPE_CHECKING:
    from jeton.engine.engine import CancelAnswer, Engine
    from jeton.engine.record import RunRecord
    from jeton.model.run import RunStatus


@click.command("cancel")
@click.argument("run", required=False)
@click.option("--reason", default="", metavar="TEXT", help="Why; kept in the run's history.")
@click.option("--workflow", metavar="NAME", help="All unfinished runs of this workflow, instead of one run.")
@click.option("--status", type=click.Choice(STATUSES[:3]), help="All runs with this status, instead of one run.")
@click.option("--dry-run", is_flag=True, help="Say which runs would be cancelled, and cancel none.")
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
    if (run is None) == (workflow is None and status is None):
        raise click.UsageError("name a run, or give --workflow or --status")
    with answering(as_json):
        if run is None:
            asyncio.run(_cancel_found(store, workflow, status, reason, dry_run, as_json))
        else:
            sys.exit(asyncio.run(_cancel_one(store, run, reason, dry_run, as_json)))


async def _cancel_one(store: str, run: str, reason: str, dry_run: bool, as_json: bool) -> Exit:
    from jeton.engine.engine import CancelAnswer

    async with beside_owner(store) as engine:
        record = await engine.get(run)
        answer = CancelAnswer(not record.ended, record) if dry_run else await engine.cancel(run, reason)
    _say(answer, as_json)
    return Exit.DONE if answer.accepted else Exit.REFUSED


async def _cancel_found(
    store: str, workflow: str | None, status: "RunStatus | None", reason: str, dry_run: bool, as_json: bool
) -> None:
    from jeton.engine.plain import plain

    async with beside_owner(store) as engine:
        found = [run async for run in _unfinished(engine, workflow, status)]
        answers = [] if dry_run else [await engine.cancel(run.run_id, reason) for run in found]
    if as_json:
        runs = found if dry_run else [answer.record for answer in answers]
        say_json({"runs": [plain(run) for run in runs], "dry_run": dry_run})
    elif dry_run:
        for run in found:
            say(f"would cancel {run.run_id} ({run.workflow}, {run.status})")
    for answer in () if as_json else answers:
        _say(answer, as_json)


async def _unfinished(engine: "Engine", workflow: str | None, status: "RunStatus | None") -> "AsyncIterator[RunRecord]":
    last = None
    while page := await engine.list(workflow=workflow, status=status, after=last):
        for run in page:
            if not run.ended:
                yield run
        last = page[-1].run_id


@asynccontextmanager
async def beside_owner(store: str) -> "AsyncGenerator[Engine, None]":
    """The store as its owner if it has none, so that the run acts at once; else as a guest who leaves a message."""
    from jeton.engine.engine import open
    from jeton.model.failure import Refused

    if not Path(store).exists():
        raise Refused("no_store", f"there is no store at {store}", "check the path, or set JETON_STORE")
    opening = open(store, work=False)
    try:
        engine = await opening.__aenter__()
    except Refused as refused:
        if refused.code != "store_owned":
            raise
        opening = open(store, owner=False)
        engine = await opening.__aenter__()
    try:
        yield engine
    finally:
        await opening.__aexit__(None, None, None)


def _say(answer: "CancelAnswer", as_json: bool) -> None:
    from jeton.engine.plain import plain

    record = answer.record
    if as_json:
        say_json({"accepted": answer.accepted, **plain(record)})
    elif answer.accepted and not record.ended:
        say(f"{record.run_id} will be cancelled as soon as its owner, or `jeton resume`, takes it up")
    else:
        word = "is" if answer.accepted else "had ended already:"
        say(f"{record.run_id} {word} {styled_status(record.status)}")
