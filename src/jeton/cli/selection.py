"""Doing something to one run, or to all unfinished runs that a query finds."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click
import msgspec

from jeton.cli.options import Exit
from jeton.cli.output import echo, echo_json
from jeton.cli.store import open_beside_owner, wait_until_idle
from jeton.cli.verbs.look.ls import STATUSES

if TYPE_CHECKING:
    from jeton.engine.engine import Engine
    from jeton.engine.views.record import RunRecord
    from jeton.model.state.run import RunStatus

_Command = TypeVar("_Command", bound=Callable[..., Any])
Done: TypeAlias = "tuple[bool, RunRecord]"
"""Whether the run took it, and how it stands."""


class Operation(msgspec.Struct, frozen=True):
    """What is done, and how it is told. `acts`: runs go on because of it, so their tasks must be run too."""

    name: str
    act: "Callable[[Engine, str], Awaitable[Done]]"
    said: "Callable[[bool, RunRecord], str]"
    acts: bool = False


class Selection(msgspec.Struct, frozen=True):
    """The one run, or what the unfinished ones have in common."""

    run: str | None
    workflow: str | None
    status: "RunStatus | None"
    dry_run: bool

    def __post_init__(self) -> None:
        if (self.run is None) == (self.workflow is None and self.status is None):
            raise click.UsageError("name a run, or give --workflow or --status")


def selection_options(command: _Command) -> _Command:
    """`--workflow`, `--status` and `--dry-run`."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Say which runs it would be, and change none."),
        click.option("--status", type=click.Choice(STATUSES[:3]), help="All runs with this status, instead of one."),
        click.option("--workflow", metavar="NAME", help="All unfinished runs of this workflow, instead of one run."),
    ):
        command = option(command)
    return command


async def carry_out(verb: Operation, query: Selection, store: str, as_json: bool) -> Exit:
    """Carry it out, and tell what came of it."""
    async with open_beside_owner(store, work=verb.acts and not query.dry_run) as engine:
        if query.run is not None:
            return await _one(verb, engine, query.run, query.dry_run, as_json)
        await _all(verb, engine, query, as_json)
        return Exit.DONE


async def _one(verb: Operation, engine: "Engine", run: str, dry_run: bool, as_json: bool) -> Exit:
    from jeton.engine.views.plain import plain

    record = await engine.get(run)
    accepted, record = (not record.ended, record) if dry_run else await verb.act(engine, run)
    if verb.acts and not dry_run:
        await wait_until_idle(engine)
        record = await engine.get(run)
    if as_json:
        echo_json({"accepted": accepted, **plain(record)})
    elif dry_run and accepted:
        echo(_would(verb, record))
    else:
        echo(verb.said(accepted, record))
    return Exit.DONE if accepted else Exit.REFUSED


async def _all(verb: Operation, engine: "Engine", query: Selection, as_json: bool) -> None:
    from jeton.engine.views.plain import plain

    found = await _unfinished(engine, query)
    done = [(True, run) for run in found] if query.dry_run else [await _tried(verb, engine, run) for run in found]
    if verb.acts and not query.dry_run:
        await wait_until_idle(engine)
        done = [(accepted, await engine.get(run.run_id)) for accepted, run in done]
    if as_json:
        echo_json({"runs": [plain(run) for _, run in done], "dry_run": query.dry_run})
        return
    for accepted, run in done:
        echo(_would(verb, run) if query.dry_run else verb.said(accepted, run))


async def _tried(verb: Operation, engine: "Engine", run: "RunRecord") -> Done:
    """A run that has ended since it was found is no reason to leave the others."""
    from jeton.model.failure import Refused

    try:
        return await verb.act(engine, run.run_id)
    except Refused as refused:
        if refused.code != "run_ended":
            raise
        return False, await engine.get(run.run_id)


async def _unfinished(engine: "Engine", query: Selection) -> "list[RunRecord]":
    """Without those whose callers are found too: what is done to a run is done to the runs it called."""
    found: dict[str, RunRecord] = {}
    last = None
    while page := await engine.list(workflow=query.workflow, status=query.status, after=last):
        found.update({run.run_id: run for run in page if not run.ended})
        last = page[-1].run_id
    return [run for run in found.values() if not {run.parent_run_id, run.root_run_id} & (found.keys() - {run.run_id})]


def _would(verb: Operation, run: "RunRecord") -> str:
    return f"would {verb.name} {run.run_id} ({run.workflow}, {run.status})"
