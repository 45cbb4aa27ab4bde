"""`jeton run FILE`: deploy, start, and follow a run to its end."""

import asyncio
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from jeton.cli.options import Exit, app_option, json_option, read_text, store_option
from jeton.cli.output import echo, echo_data, echo_json, printable, reporting_errors, styled_status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractContextManager

    from jeton.cli.follow import View
    from jeton.engine.engine import Engine, Run
    from jeton.engine.views.record import RunRecord
    from jeton.model.definition.flow import Flow
    from jeton.model.definition.workflow import Workflow
    from jeton.model.entry import Entry
    from jeton.model.ids import RunId
    from jeton.model.json import JsonObject


@click.command("run")
@click.argument("file", type=click.Path())
@click.argument("name", required=False)
@click.option(
    "--input", "given", default="{}", metavar="JSON|@FILE", help="What the run is given; @- reads standard input."
)
@click.option("--key", metavar="K", help="Start it once: the same key gives the same run.")
@click.option("--wait", "wait_s", type=click.FloatRange(min=0), metavar="S", help="Stay this long at most.")
@click.option("--trace", is_flag=True, help="Also show what was decided.")
@app_option
@store_option
@json_option
def command(
    file: str,
    name: str | None,
    given: str,
    key: str | None,
    wait_s: float | None,
    trace: bool,
    app: str | None,
    store: str,
    as_json: bool,
) -> None:
    """Deploy a file's workflows and flows, start one of them, and follow the run to its end.

    NAME may be left out if the file has one workflow or flow. Interrupted, the run is left for `jeton resume`.
    """
    from jeton.cli.library import choose_definition, load_file
    from jeton.cli.verbs.look.triggers import removal
    from jeton.engine.build.source import declared_in
    from jeton.engine.input import read_input

    with reporting_errors(as_json):
        loaded = load_file(file, app)
        library = loaded.require()
        workflow = choose_definition(library, name, file)
        for problem in () if as_json else loaded.problems:
            echo(f"{problem.severity}: {problem.path}: {problem.problem}", err=True)
        value = read_input(read_text(given, "--input"))

        async def begin(engine: "Engine") -> "Run":
            deployed = await engine.deploy_library(library, declared_in(file))
            for trigger in () if as_json else deployed.removed:
                echo(removal(trigger, file), err=True)
            return await engine.start(workflow.name, value, key=key)

        sys.exit(asyncio.run(follow_begun(begin, wait_s, trace=trace, store=store, as_json=as_json)))


async def follow_begun(
    begin: "Callable[[Engine], Awaitable[Run]]", wait_s: float | None, *, trace: bool, store: str, as_json: bool
) -> Exit:
    """Begin a run, stay with it to its end, and say how it stands."""
    from jeton.cli.follow import follow, stop_event
    from jeton.engine.engine import open
    from jeton.engine.views.flows import definition_in

    async with stop_event() as stop, open(store) as engine:
        run = await begin(engine)
        record = await run.record()
        workflow = definition_in(engine.workflow(f"{record.workflow}@{record.version}"), record.workflow)
        with _view(workflow, run.id, as_json) as view:
            record = await follow(engine, run.id, stop, view=view, wait_s=wait_s)
        decided = [event async for event in engine.events(run.id, trace=True)] if trace else None
    if stop.is_set() and not record.ended:
        async with open(store, owner=False) as reader:
            record = await reader.get(run.id)  # its last task may have been done within the grace time
    _echo(record, decided, as_json)
    if not record.ended:
        echo(f"run {record.run_id} is left for: jeton resume --store {store}", err=True)
    return exit_of(record)


def exit_of(record: "RunRecord") -> Exit:
    """What a run's status means for a script."""
    if not record.ended:
        return Exit.STILL_WAITING
    return Exit.DONE if record.status == "completed" else Exit.RUN_FAILED


def _view(workflow: "Workflow | Flow", run: str, as_json: bool) -> "AbstractContextManager[View | None]":
    if as_json:
        return nullcontext(None)
    if not sys.stdout.isatty():
        return nullcontext(_Lines(run))
    from rich.console import Console

    from jeton.cli.live import LiveView

    return LiveView(workflow, run, Console())


class _Lines:
    """Where there is no terminal: a line for each event."""

    def __init__(self, run: str) -> None:
        self._run = run

    def take(self, run: "RunId", entry: "Entry") -> None:
        from jeton.cli.verbs.look.events import event_line
        from jeton.engine.views.events import events_in

        for event in events_in(run, (entry,)):
            echo(event_line(event, self._run))


def _echo(record: "RunRecord", decided: "list[JsonObject] | None", as_json: bool) -> None:
    from jeton.cli.verbs.look.events import event_line
    from jeton.engine.views.plain import plain

    if as_json:
        answer: JsonObject = plain(record)
        echo_json(answer if decided is None else {**answer, "trace": [*decided]})
        return
    for event in decided or ():
        echo(event_line(event, record.run_id))
    took = (
        ""
        if record.completed_at is None
        else f" in {(record.completed_at - record.submitted_at).total_seconds():.1f} s"
    )
    echo(f"{record.run_id} {styled_status(record.status)}{took}")
    if record.error is not None:
        echo(f"  {printable(f'{record.error.type}: {record.error.message}')}")
    if record.status == "completed":
        echo_data(record.output)
