"""`jeton run FILE`: deploy a file, start a run, and follow it to its end."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, cast

import click

from jeton.cli.follow import View, follow, stop_event
from jeton.cli.library import choose_definition, load_file
from jeton.cli.options import Exit, app_option, given_options, json_option, read_text, store_option, wait_option
from jeton.cli.output import echo, echo_data, echo_json, echo_stack, printable, removal, reporting_errors, styled_status
from jeton.cli.store import is_url, no_app_at_server
from jeton.cli.terminal import shared_terminal
from jeton.cli.verbs.look.events import event_line
from jeton.engine.build.source import declared_in
from jeton.engine.engine import Engine
from jeton.engine.input import read_input, read_value
from jeton.engine.opening import open
from jeton.engine.run import Run
from jeton.engine.views.events import events_in
from jeton.engine.views.flows import definition_in, overrides_in
from jeton.engine.views.plain import plain
from jeton.engine.views.record import RunRecord
from jeton.model.definition.flow import Flow
from jeton.model.definition.workflow import Library, Workflow
from jeton.model.entry import Entry
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject

if TYPE_CHECKING:  # slow to import, and only a terminal, or a server, needs them
    from rich.console import Console

    from jeton.api.client import RemoteEngine
    from jeton.api.client.handles import RemoteRun


@click.command("run")
@click.argument("file", type=click.Path())
@click.argument("name", required=False)
@click.option("--input", "given", default="{}", metavar="JSON|@FILE", help="The run's input; @- reads standard input.")
@click.option(
    "--override",
    "overrides",
    multiple=True,
    metavar="NODE.HANDLE=JSON",
    help="An input of a flow's node for this run, unless a connection brings one; may be repeated.",
)
@click.option("--key", metavar="KEY", help="An idempotency key: the same key again gives the same run.")
@wait_option
@click.option("--trace", is_flag=True, help="Print the run's decisions at the end.")
@app_option
@store_option
@json_option
def command(
    file: str,
    name: str | None,
    given: str,
    overrides: tuple[str, ...],
    key: str | None,
    wait_s: float | None,
    trace: bool,
    app: str | None,
    store: str,
    as_json: bool,
) -> None:
    """Deploy the workflows and flows of a file, start one of them, and follow the run to its end.

    NAME may be left out if the file has only one. When interrupted, the run is kept for `jeton resume`. Exits with 0 if
    the run completed, with 1 if it ended otherwise, with 4 if it has not ended.
    """
    with reporting_errors(as_json):
        if is_url(store):
            no_app_at_server(app)
            value, written = read_input(read_text(given, "--input")), _by_node(overrides)
            starts = _started_there(file, name, value, key, written, trace=trace, as_json=as_json)
            sys.exit(asyncio.run(start_and_follow(starts, wait_s, store=store, as_json=as_json, trace=trace)))
        loaded = load_file(file, app=app)
        library = loaded.require()
        workflow = choose_definition(library, name, file)
        for problem in () if as_json else loaded.problems:
            echo(printable(f"{problem.severity}: {problem.path}: {problem.problem}"), err=True)
        value = read_input(read_text(given, "--input"))
        inputs = _overrides(overrides, library, workflow.name)

        async def start(engine: Engine) -> Run:
            deployed = await engine.deploy_library(library, declared_in(file))
            for trigger in () if as_json else deployed.removed:
                echo(removal(trigger, file), err=True)
            return await engine.start(workflow.name, value, key=key, overrides=inputs)

        built_by = file if file.endswith(".py") else None
        follow_it = start_and_follow(start, wait_s, store=store, as_json=as_json, trace=trace, app=built_by)
        sys.exit(asyncio.run(follow_it))


def _started_there(
    file: str,
    name: str | None,
    value: Json,
    key: str | None,
    overrides: dict[str, JsonObject],
    *,
    trace: bool,
    as_json: bool,
) -> Callable[[Engine], Awaitable[Run]]:
    """How a run of a file is started at a server, which checks it with the functions that it has itself."""
    from jeton.cli.remote import definition_at, deploy_at  # the client is loaded for a server only

    async def start(engine: Engine) -> Run:
        there = cast("RemoteEngine", engine)
        workflow = await definition_at(there, file, name)
        deployed = await deploy_at(there, file)
        for problem in () if as_json else deployed.warnings:
            echo(printable(f"{problem.severity}: {problem.path}: {problem.problem}"), err=True)
        for trigger in () if as_json else deployed.removed:
            echo(removal(trigger, file), err=True)
        return await engine.start(workflow, value, key=key, overrides=overrides or None, trace=trace)

    return start


def _overrides(written: tuple[str, ...], library: Library, name: str) -> dict[str, JsonObject]:
    """The overrides, which the flow's nodes must have."""
    try:
        return overrides_in(library, name, _by_node(written))
    except Refused as refused:
        raise click.BadParameter(str(refused), param_hint="--override") from refused


def _by_node(written: tuple[str, ...]) -> dict[str, JsonObject]:
    """The overrides by node and handle. A name of a node has no dot, so the first one separates them."""
    found: dict[str, JsonObject] = {}
    for text in written:
        place, equals, value = text.partition("=")
        node, dot, handle = place.partition(".")
        if not (equals and dot and node and handle):
            raise click.BadParameter(f"{text}: write NODE.HANDLE=JSON", param_hint="--override")
        found.setdefault(node, {})[handle] = read_value(value, "--override")
    return found


async def start_and_follow(
    start: Callable[[Engine], Awaitable[Run]],
    wait_s: float | None,
    *,
    store: str,
    as_json: bool,
    trace: bool = False,
    app: str | None = None,
) -> Exit:
    """Start a run, follow it to its end, and print its record. `app` is a file that has the run's functions."""
    if is_url(store):
        from jeton.cli.remote import follow_remotely  # the client is loaded for a server only

        starts = cast("Callable[[RemoteEngine], Awaitable[RemoteRun]]", start)
        record, traced, code = await follow_remotely(store, starts, wait_s, trace=trace, quiet=as_json)
        _echo(record, traced, as_json)
        return code
    options = given_options(app)
    async with stop_event() as stop:
        with shared_terminal(as_json) as console:
            async with open(store) as engine:
                run = await start(engine)
                record = await run.record()
                workflow = definition_in(await engine.workflow(f"{record.workflow}@{record.version}"), record.workflow)
                with _view(workflow, run.id, console, options, as_json) as view:
                    record = await follow(engine, run.id, stop, view=view, wait_s=wait_s)
                traced = [event async for event in engine.events(run.id, trace=True)] if trace else None
    if stop.is_set() and not record.ended:
        async with open(store, owner=False) as reader:
            record = await reader.get(run.id)  # its last task may have finished within the grace time
    _echo(record, traced, as_json)
    if not record.ended:
        echo(f"run {record.run_id} has not ended; to go on: jeton resume{options}", err=True)
        return Exit.STILL_WAITING
    return Exit.DONE if record.status == "completed" else Exit.RUN_FAILED


def _view(
    workflow: Workflow | Flow, run: str, console: "Console | None", options: str, as_json: bool
) -> AbstractContextManager[View | None]:
    if as_json:
        return nullcontext(None)
    if console is None:
        return nullcontext(_Lines(run))
    from jeton.cli.live import LiveView, RunView

    return LiveView(console, RunView(workflow, run, options))


class _Lines:
    """One line per event, where there is no terminal."""

    def __init__(self, run: str) -> None:
        self._run = run

    def take(self, run: RunId, entry: Entry) -> None:
        for event in events_in(run, (entry,)):
            echo(event_line(event, self._run))


def _echo(record: RunRecord, traced: list[JsonObject] | None, as_json: bool) -> None:
    if as_json:
        answer: JsonObject = plain(record)
        echo_json(answer if traced is None else {**answer, "trace": [*traced]})
        return
    for event in traced or ():
        echo(event_line(event, record.run_id))
    took = ""
    if record.completed_at is not None:
        took = f" in {(record.completed_at - record.submitted_at).total_seconds():.1f} s"
    echo(f"{record.run_id} {styled_status(record.status)}{took}")
    if record.error is not None:
        echo(f"  {printable(f'{record.error.type}: {record.error.message}')}")
        echo_stack(record.error_stack)
    if record.status == "completed":
        echo_data(record.output)
