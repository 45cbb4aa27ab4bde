"""`jeton run FILE`: deploy, start, and follow a run to its end."""

import asyncio
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jeton.cli.options import Exit, app_option, json_option, store_option
from jeton.cli.say import answering, printable, say, say_data, say_json, styled_status

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from jeton.cli.follow import View
    from jeton.engine.record import RunRecord
    from jeton.model.entry import Entry
    from jeton.model.json import Json, JsonObject
    from jeton.model.workflow import Library, Workflow


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
    """Deploy a file's workflows, start one of them, and follow the run to its end.

    NAME may be left out if the file has one workflow. Interrupted, the run is left for `jeton resume`.
    """
    from jeton.cli.library import choose_workflow, load_file
    from jeton.engine.input import read_input

    with answering(as_json):
        loaded = load_file(file, app)
        library = loaded.require()
        workflow = choose_workflow(library, name, file)
        for problem in () if as_json else loaded.problems:
            say(f"{problem.severity}: {problem.path}: {problem.problem}", err=True)
        value = read_input(given_text(given))
        sys.exit(asyncio.run(_run(library, workflow, value, key, wait_s, trace, store, as_json)))


def given_text(given: str) -> str:
    """JSON as it was given: itself, from a file, or from standard input."""
    if not given.startswith("@"):
        return given
    try:
        data = sys.stdin.buffer.read() if given == "@-" else Path(given[1:]).read_bytes()
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{given[1:]} cannot be read: {error}", param_hint="--input") from None


async def _run(
    library: "Library",
    workflow: "Workflow",
    value: "Json",
    key: str | None,
    wait_s: float | None,
    trace: bool,
    store: str,
    as_json: bool,
) -> Exit:
    from jeton.cli.follow import follow, stop_asked
    from jeton.engine.engine import open

    async with stop_asked() as stop, open(store) as engine:
        await engine.deploy_library(library)
        run = await engine.start(workflow.name, value, key=key)
        with _view(workflow, run.id, as_json) as view:
            record = await follow(engine, run.id, stop, view=view, wait_s=wait_s)
        decided = [event async for event in engine.events(run.id, trace=True)] if trace else None
    if stop.is_set() and not record.ended:
        async with open(store, owner=False) as reader:
            record = await reader.get(run.id)  # its last task may have been done within the grace time
    _say(record, decided, as_json)
    if not record.ended:
        say(f"run {record.run_id} is left for: jeton resume --store {store}", err=True)
    return exit_of(record)


def exit_of(record: "RunRecord") -> Exit:
    """What a run's status means for a script."""
    if not record.ended:
        return Exit.STILL_WAITING
    return Exit.DONE if record.status == "completed" else Exit.RUN_FAILED


def _view(workflow: "Workflow", run: str, as_json: bool) -> "AbstractContextManager[View | None]":
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

    def take(self, entry: "Entry") -> None:
        from jeton.cli.events import event_line
        from jeton.engine.events import events_in
        from jeton.model.ids import RunId

        for event in events_in(RunId(self._run), (entry,)):
            say(event_line(event))


def _say(record: "RunRecord", decided: "list[JsonObject] | None", as_json: bool) -> None:
    from jeton.cli.events import event_line
    from jeton.engine.plain import plain

    if as_json:
        answer: JsonObject = {**plain(record), "nodes": {}}
        say_json(answer if decided is None else {**answer, "trace": [*decided]})
        return
    for event in decided or ():
        say(event_line(event))
    took = (
        ""
        if record.completed_at is None
        else f" in {(record.completed_at - record.submitted_at).total_seconds():.1f} s"
    )
    say(f"{record.run_id} {styled_status(record.status)}{took}")
    if record.error is not None:
        say(f"  {printable(f'{record.error.type}: {record.error.message}')}")
    if record.status == "completed":
        say_data(record.output)
