"""Following a run until it ends, the time limit is reached, or the process is asked to stop."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from jeton.cli.output import echo
from jeton.engine.engine import Engine
from jeton.engine.views.record import RunRecord
from jeton.model.entry import Entry
from jeton.model.failure import Refused
from jeton.model.ids import RunId

POLL_S = 0.1
SETTLE_S = 0.1


class View(Protocol):
    """Shows a run while it goes on."""

    def take(self, run: RunId, entry: Entry) -> None:
        """Show one more journal entry of the run, or of a run it called."""
        ...


@asynccontextmanager
async def stop_event(what: str = "running tasks may finish") -> AsyncGenerator[asyncio.Event, None]:
    """An event set by the first SIGINT or SIGTERM; the second ends the process at once. `what` happens meanwhile."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()
        echo(f"stopping: {what}; interrupt again to end at once", err=True)

    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, on_signal, number)
    try:
        yield stop
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


async def follow(
    engine: Engine, run: str, stop: asyncio.Event, *, view: View | None = None, wait_s: float | None = None
) -> RunRecord:
    """The run's record when following ends. Raises Refused if the run lacks a Python function."""
    ended = asyncio.create_task(engine.ended(run))
    waiting: set[asyncio.Task[Any]] = {
        ended,
        asyncio.create_task(stop.wait()),
        asyncio.create_task(_wait_for_missing_function(engine, run)),
    }
    feed = asyncio.create_task(_feed(engine, run, view)) if view is not None else None
    try:
        await asyncio.wait(waiting, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        record = ended.result() if ended.done() else await engine.get(run)
        if feed is not None and record.ended:
            await feed  # so that the view has shown the last entry
    finally:
        await cancelled(*waiting, *((feed,) if feed is not None else ()))
    missing = _missing_function(engine, run)
    if missing is not None and not record.ended:
        problem = f"run {run} needs a Python function that is not here: {missing}"
        raise Refused("needs_app", problem, "name what defines it with --app; the run is kept, for `jeton resume`")
    return record


async def cancelled(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks, and wait until each has ended: one that is left pending is reported when it is destroyed."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def feeding(engine: Engine, runs: list[RunId], view: View) -> AsyncGenerator[None, None]:
    """Show the entries of the runs as they are made."""
    feeds = [asyncio.create_task(_feed(engine, run, view)) for run in runs]
    try:
        yield
        await asyncio.sleep(SETTLE_S)  # so that the view has shown the last entries
    finally:
        await cancelled(*feeds)


async def _feed(engine: Engine, run: str, view: View) -> None:
    async for source, entry in engine.tree(run, follow=True):
        view.take(source, entry)


async def _wait_for_missing_function(engine: Engine, run: str) -> None:
    while _missing_function(engine, run) is None:
        await asyncio.sleep(POLL_S)


def _missing_function(engine: Engine, run: str) -> str | None:
    """The Python function that the run, or a run it called, needs and that is not imported."""
    return next((name for each, name in engine.needs_app.items() if f"{each}.".startswith(f"{run}.")), None)
