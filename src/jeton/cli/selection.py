"""Changing one run, or all unfinished runs that a selection finds."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeAlias

import click
import msgspec

from jeton.cli.options import UNFINISHED, Exit
from jeton.cli.output import echo, echo_json, reporting_errors, styled_status
from jeton.cli.store import open_beside_owner, settled
from jeton.engine.control import ControlOutcome
from jeton.engine.engine import Engine
from jeton.engine.views.plain import plain
from jeton.engine.views.record import RunRecord
from jeton.model.failure import Refused
from jeton.model.state.run import RunStatus

Changed: TypeAlias = tuple[ControlOutcome, RunRecord]
"""What became of the change, and the run's record afterwards."""


class Operation(msgspec.Struct, frozen=True):
    """A change to a run and the sentence that reports it. `works`: runs go on, so their tasks must be run too."""

    name: str
    change: Callable[[Engine, str], Awaitable[Changed]]
    noun: str
    sentence: Callable[[RunRecord], str]
    works: bool = False

    def report(self, outcome: ControlOutcome, record: RunRecord) -> str:
        match outcome:
            case "accepted":
                return self.sentence(record)
            case "ended":
                return f"{record.run_id} had already ended: {styled_status(record.status)}"
            case "sent":
                taken = "taken up by its owner, or by `jeton resume`, unless the run ends first"
                return f"{record.run_id}: {self.noun} is sent; it will be {taken}"


class Selection(msgspec.Struct, frozen=True):
    """One run, or all unfinished runs of a workflow or with a status."""

    run: str | None
    workflow: str | None
    status: RunStatus | None
    dry_run: bool


def selection_options(command: Callable[..., None]) -> Callable[..., None]:
    """`RUN`, `--workflow`, `--status` and `--dry-run`, passed to the command as one `selection`."""

    @wraps(command)
    def with_selection(
        run: str | None, workflow: str | None, status: RunStatus | None, dry_run: bool, **others: Any
    ) -> None:
        if (run is None) == (workflow is None and status is None):
            raise click.UsageError("name a run, or give --workflow or --status")
        command(selection=Selection(run, workflow, status, dry_run), **others)

    found: Callable[..., None] = with_selection
    for option in (
        click.option("--dry-run", is_flag=True, help="List the runs that would change, and change none."),
        click.option("--status", type=click.Choice(UNFINISHED), help="Select all runs with this status."),
        click.option("--workflow", metavar="NAME", help="Select all unfinished runs of this workflow."),
        click.argument("run", required=False),
    ):
        found = option(found)
    return found


def carry_out(operation: Operation, selection: Selection, store: str, as_json: bool) -> None:
    """Change the selected runs, print the result, and exit."""
    with reporting_errors(as_json):
        sys.exit(asyncio.run(_carry_out(operation, selection, store, as_json)))


async def _carry_out(operation: Operation, selection: Selection, store: str, as_json: bool) -> Exit:
    async with open_beside_owner(store, work=operation.works and not selection.dry_run) as engine:
        if selection.run is not None:
            return await _one(operation, engine, selection.run, selection.dry_run, as_json)
        await _all(operation, engine, selection, as_json)
        return Exit.DONE


async def _one(operation: Operation, engine: Engine, run: str, dry_run: bool, as_json: bool) -> Exit:
    if dry_run:
        record = await engine.get(run)
        outcome: ControlOutcome = "ended" if record.ended else "accepted"
    else:
        outcome, record = await operation.change(engine, run)
    if operation.works and not dry_run:
        record = await settled(engine, run, record)
    if as_json:
        echo_json({"accepted": outcome == "accepted", "outcome": outcome, **plain(record)})
    elif dry_run and outcome == "accepted":
        echo(_would(operation, record))
    else:
        echo(operation.report(outcome, record))
    return Exit.REFUSED if outcome == "ended" else Exit.DONE


async def _all(operation: Operation, engine: Engine, selection: Selection, as_json: bool) -> None:
    found = await _unfinished(engine, selection)
    changed: list[Changed]
    if selection.dry_run:
        changed = [("accepted", run) for run in found]
    else:
        changed = [await _change_unless_ended(operation, engine, run) for run in found]
    if operation.works and not selection.dry_run:
        changed = [(outcome, await settled(engine, run.run_id, run)) for outcome, run in changed]
    if as_json:
        runs = [{**plain(run), "outcome": outcome} for outcome, run in changed]
        echo_json({"runs": runs, "dry_run": selection.dry_run})
        return
    for outcome, run in changed:
        echo(_would(operation, run) if selection.dry_run else operation.report(outcome, run))


async def _change_unless_ended(operation: Operation, engine: Engine, run: RunRecord) -> Changed:
    """A run that has ended since it was found must not keep the others from being changed."""
    try:
        return await operation.change(engine, run.run_id)
    except Refused as refused:
        if refused.code != "run_ended":
            raise
        return "ended", await engine.get(run.run_id)


async def _unfinished(engine: Engine, selection: Selection) -> list[RunRecord]:
    """The selected runs without those whose callers are selected: a change reaches the runs that a run called."""
    found: dict[str, RunRecord] = {}
    last = None
    while page := await engine.list(workflow=selection.workflow, status=selection.status, after=last):
        found.update({run.run_id: run for run in page if not run.ended})
        last = page[-1].run_id
    return [run for run in found.values() if not {run.parent_run_id, run.root_run_id} & (found.keys() - {run.run_id})]


def _would(operation: Operation, run: RunRecord) -> str:
    return f"would {operation.name} {run.run_id} ({run.workflow}, {run.status})"
