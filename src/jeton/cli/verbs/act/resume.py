"""`jeton resume`: take up every unfinished run of a store."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jeton.cli.options import Exit, app_option, json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors, styled_status

if TYPE_CHECKING:
    from jeton.engine.engine import Engine
    from jeton.engine.views.record import RunRecord
    from jeton.model.state.run import RunStatus

MOST_FIRED = 1000
UNFINISHED: "tuple[RunStatus, ...]" = ("submitted", "running", "waiting")


@click.command("resume")
@app_option
@click.option("--watch", is_flag=True, help="Stay, for timers and for messages of other processes, until interrupted.")
@store_option
@json_option
def command(app: str | None, watch: bool, store: str, as_json: bool) -> None:
    """Drive every unfinished run, and what triggers start meanwhile, to its end or to a wait.

    Exits with 1 if one of them failed, with 5 if one needs a Python function that --app did not bring, or is damaged.
    """
    from jeton.cli.app import load_app

    with reporting_errors(as_json):
        if app is not None:
            load_app(app)
        sys.exit(asyncio.run(_resume(store, watch, as_json)))


async def _resume(store: str, watch: bool, as_json: bool) -> Exit:
    from jeton.cli.follow import stop_event
    from jeton.engine.engine import open
    from jeton.hosts.sqlite import wall_ms
    from jeton.model.failure import Refused

    if not Path(store).exists():
        raise Refused("no_store", f"there is no store at {store}", "check the path, or set JETON_STORE")
    opened = wall_ms()
    async with stop_event() as stop, open(store) as engine:
        taken = await _unfinished(engine)
        await _until_idle_or_stopped(engine, stop, watch)
        taken += [run for run in await _fired_since(engine, opened) if run not in taken]
        records: list[RunRecord] = []
        damaged: dict[str, str] = {}
        for run in taken:
            try:
                records.append(await engine.get(run))
            except Refused as refused:
                if refused.code != "run_damaged":
                    raise
                damaged[run] = refused.problem
        missing = {str(run): name for run, name in engine.needs_app.items()}
    _echo(records, missing, damaged, as_json)
    if missing or damaged:
        return Exit.REFUSED
    roots = [record for record in records if record.parent_run_id is None]  # the others' failures are theirs to handle
    failed = any(record.ended and record.status != "completed" for record in roots)
    return Exit.RUN_FAILED if failed else Exit.DONE


async def _unfinished(engine: "Engine") -> list[str]:
    found: list[str] = []
    for status in UNFINISHED:
        last = None
        while page := await engine.list(status=status, after=last):
            found += [run.run_id for run in page]
            last = page[-1].run_id
    return found


async def _fired_since(engine: "Engine", opened: int) -> list[str]:
    """The runs that triggers started, the newest first; of very many, only so many."""
    from jeton.model.times import moment

    since = moment(opened)
    runs = await engine.list(limit=MOST_FIRED)
    return [run.run_id for run in runs if run.trigger_id and not run.parent_run_id and run.submitted_at >= since]


async def _until_idle_or_stopped(engine: "Engine", stop: asyncio.Event, watch: bool) -> None:
    stopped = asyncio.create_task(stop.wait())
    idle = asyncio.create_task(engine.idle())
    try:
        await asyncio.wait({stopped} if watch else {stopped, idle}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
        idle.cancel()


def _echo(records: "list[RunRecord]", missing: dict[str, str], damaged: dict[str, str], as_json: bool) -> None:
    from jeton.engine.views.plain import plain

    if as_json:
        echo_json({"runs": [plain(record) for record in records], "needs_app": missing, "damaged": damaged})
        return
    if not records and not damaged:
        echo("nothing to resume")
    for record in records:
        echo(f"{record.run_id} {record.workflow}@{record.version} {styled_status(record.status)}")
    for run, function in missing.items():
        echo(f"{run} needs {printable(function)}: name what defines it with --app", err=True)
    for problem in damaged.values():
        echo(f"{printable(problem)}: verify the store", err=True)
