"""`jeton resume`: drive the unfinished runs of a store."""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import click

from jeton.cli.app import load_app
from jeton.cli.follow import cancelled, feeding, stop_event
from jeton.cli.options import UNFINISHED, Exit, app_option, given_options, json_option, store_option
from jeton.cli.output import echo, echo_json, plain_list, printable, reporting_errors, styled_status
from jeton.cli.store import echo_missing_functions, local_only, must_exist, set_aside_sentences
from jeton.cli.terminal import shared_terminal
from jeton.engine.engine import Engine
from jeton.engine.opening import open
from jeton.engine.views.conversation import ConversationView
from jeton.engine.views.flows import definition_in
from jeton.engine.views.record import RunRecord
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.times import moment

if TYPE_CHECKING:  # rich is slow to import, and only a terminal needs it
    from rich.console import Console

MAX_FIRED = 1000
MAX_SHOWN = 5


@click.command("resume")
@app_option
@click.option("--watch", is_flag=True, help="Keep running, for timers, triggers and messages, until interrupted.")
@store_option
@json_option
def command(app: str | None, watch: bool, store: str, as_json: bool) -> None:
    """Drive every unfinished run and conversation, and runs that triggers start meanwhile, until each ends or waits.

    Exits with 1 if one of them failed; with 5 if one is damaged, needs a Python function that --app did not import, or
    is set aside because the process ended three times while it was advanced.
    """
    with reporting_errors(as_json):
        local_only(store, "resume", "the server drives its runs by itself: see them with `jeton ls --url`")
        load_app(app)
        sys.exit(asyncio.run(_resume(store, watch, as_json)))


async def _resume(store: str, watch: bool, as_json: bool) -> Exit:
    must_exist(store)
    opened = time.time_ns() // 1_000_000
    runs_before, talks_before = await _found_before(store)
    async with stop_event() as stop:
        with shared_terminal(as_json) as console:
            async with open(store) as engine:
                set_aside = set_aside_sentences(engine)
                unfinished = dict.fromkeys([*runs_before, *await _unfinished(engine)])
                driven = [run for run in unfinished if run not in set_aside]
                talks = dict.fromkeys([*talks_before, *await _active(engine)])
                async with _shown(engine, driven, console):
                    await _until_idle_or_stopped(engine, stop, watch)
                driven += [run for run in await _fired_since(engine, opened) if run not in driven]
                records, damaged = await _records(engine, driven)
                missing = dict(engine.needs_app)
                conversations = [await engine.conversation(talk) for talk in talks if talk not in set_aside]
    _echo(records, conversations, missing, damaged, set_aside, as_json)
    if missing or damaged or set_aside:
        return Exit.REFUSED
    roots = [record for record in records if record.parent_run_id is None]  # a caller handles failures of its calls
    failed = any(record.ended and record.status != "completed" for record in roots)
    return Exit.RUN_FAILED if failed else Exit.DONE


async def _records(engine: Engine, driven: list[str]) -> tuple[list[RunRecord], dict[str, str]]:
    """The records of the runs, and the problems of those that are damaged."""
    records: list[RunRecord] = []
    damaged: dict[str, str] = {}
    for run in driven:
        try:
            records.append(await engine.get(run))
        except Refused as refused:
            if refused.code != "run_damaged":
                raise
            damaged[run] = refused.problem
    return records, damaged


@asynccontextmanager
async def _shown(engine: Engine, driven: list[str], console: "Console | None") -> AsyncGenerator[None]:
    """A live view of the first runs that no other run called, where there is a terminal."""
    records = [] if console is None else (await _records(engine, driven))[0]
    roots = [record for record in records if record.parent_run_id is None][:MAX_SHOWN]
    if console is None or not roots:
        yield
        return
    from jeton.cli.live import LiveView, RunView

    options = given_options()
    views: list[RunView] = []
    for record in roots:
        bundle = await engine.workflow(f"{record.workflow}@{record.version}")
        views.append(RunView(definition_in(bundle, record.workflow), record.run_id, options))
    with LiveView(console, *views) as view:
        async with feeding(engine, [record.run_id for record in roots], view):
            yield


async def _found_before(store: str) -> tuple[list[str], list[RunId]]:
    """The unfinished runs and active conversations before this process moves any: some end while it opens the store."""
    try:
        async with open(store, owner=False) as engine:
            return await _unfinished(engine), await _active(engine)
    except Refused as refused:
        if refused.code != "older_store":  # which opening it as its owner migrates
            raise
        return [], []


async def _unfinished(engine: Engine) -> list[str]:
    found: list[str] = []
    for status in UNFINISHED:
        last = None
        while page := await engine.list(status=status, after=last):
            found += [run.run_id for run in page]
            last = page[-1].run_id
    return found


async def _active(engine: Engine) -> list[RunId]:
    """Conversations in which a turn moves."""
    found: list[RunId] = []
    while page := await engine.conversations(active=True, after=found[-1] if found else None):
        found += [row.id for row in page]
    return found


async def _fired_since(engine: Engine, opened: int) -> list[str]:
    """The newest runs that triggers started since the store was opened, at most MAX_FIRED."""
    since = moment(opened)
    runs = await engine.list(limit=MAX_FIRED)
    return [run.run_id for run in runs if run.trigger_id and not run.parent_run_id and run.submitted_at >= since]


async def _until_idle_or_stopped(engine: Engine, stop: asyncio.Event, watch: bool) -> None:
    stopped = asyncio.create_task(stop.wait())
    idle = asyncio.create_task(engine.idle())
    try:
        await asyncio.wait({stopped} if watch else {stopped, idle}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await cancelled(stopped, idle)


def _echo(
    records: list[RunRecord],
    conversations: list[ConversationView],
    missing: dict[RunId, str],
    damaged: dict[str, str],
    set_aside: dict[RunId, str],
    as_json: bool,
) -> None:
    if as_json:
        problems = {"needs_app": missing, "damaged": damaged, "set_aside": set_aside}
        talks = [{"id": talk.conversation_id, "agent": talk.agent, "status": talk.status} for talk in conversations]
        echo_json({"runs": plain_list(records), "conversations": talks, **problems})
        return
    if not records and not conversations and not damaged and not set_aside:
        echo("nothing to resume")
    for record in records:
        echo(f"{record.run_id} {record.workflow}@{record.version} {styled_status(record.status)}")
    for talk in conversations:
        echo(f"{talk.conversation_id} conversation with {printable(talk.agent)} {styled_status(talk.status)}")
    echo_missing_functions(missing)
    for problem in damaged.values():
        echo(f"{printable(problem)}: verify the store", err=True)
    for sentence in set_aside.values():
        echo(printable(sentence), err=True)
