"""Verbs at a server: definitions go there as texts, and what they start is followed from here."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, suppress
from typing import TypeVar

from jeton.api.client import RemoteEngine, connect
from jeton.api.client.handles import RemoteConversation, RemoteRun
from jeton.api.client.remote import files_of
from jeton.api.views import Checked, Queries
from jeton.cli.follow import cancelled, stop_event
from jeton.cli.options import Exit
from jeton.cli.output import echo
from jeton.cli.verbs.look.events import event_line
from jeton.engine.build.source import Source, parts_of_files, readable_texts
from jeton.engine.deploy.deploying import Deployment
from jeton.engine.views.conversation import ConversationView
from jeton.engine.views.record import RunRecord
from jeton.model.failure import DefinitionError, Refused
from jeton.model.json import JsonObject
from jeton.model.state.run import RunStatus

SETTLE_S = 1.0
LOOK_AGAIN_S = 0.05
MOVING: tuple[RunStatus, ...] = ("submitted", "running")

_Value = TypeVar("_Value")


def at_server(url: str, act: Callable[[RemoteEngine], Awaitable[_Value]]) -> _Value:
    """Connect to a server, and do something there."""

    async def done() -> _Value:
        async with connect(url) as engine:
            return await act(engine)

    return asyncio.run(done())


def source_of(*files: str) -> Source:
    """Files as a source that can be sent. Of a Python file, everything that it builds."""
    return parts_of_files(files)


async def check_at(engine: RemoteEngine, *files: str) -> Checked:
    """What the server finds in definition files, which have the names that they were given here."""
    texts, unread = readable_texts(source_of(*files))
    if not texts:
        return Checked(not unread, unread, {})
    sent = [{"name": name, "text": text} for name, text in texts]
    found = await engine.connection.post("/check", Checked, {"files": sent})
    problems = sorted((*unread, *found.problems), key=lambda problem: (problem.file, problem.line))
    return Checked(found.ok and not unread, tuple(problems), found.graphs)


async def definition_at(engine: RemoteEngine, file: str, name: str | None) -> str:
    """The workflow or flow of a file that is meant. Raises DefinitionError with all that the server finds wrong."""
    checked = await check_at(engine, file)
    if not checked.ok:
        raise DefinitionError(checked.problems)
    known = ", ".join(checked.graphs) or "none"
    if name is not None and name not in checked.graphs:
        raise Refused("unknown_workflow", f"{file} has no workflow or flow '{name}'", f"it has: {known}")
    if name is None and len(checked.graphs) != 1:
        count = len(checked.graphs)
        raise Refused("which_workflow", f"{file} has {count} workflows and flows", f"name one of: {known}")
    return name if name is not None else next(iter(checked.graphs))


async def deploy_at(engine: RemoteEngine, file: str) -> Deployment:
    """Deploy a file."""
    return await engine.deploy(source_of(file))


async def saved_query(engine: RemoteEngine, name: str) -> str | None:
    """The query that somebody saved under a name."""
    found = await engine.connection.get("/queries", Queries)
    return next((query.q for query in found.queries if query.name == name), None)


async def simulate_at(engine: RemoteEngine, file: str, body: JsonObject, kind: type[_Value]) -> _Value:
    """The server's report on a workflow of a file."""
    files: list[JsonObject] = files_of(source_of(file))
    return await engine.connection.post("/simulate", kind, {**body, "files": [*files]})


async def settled(engine: RemoteEngine, record: RunRecord, told: str) -> RunRecord:
    """The record once the run has ended or waits, or after a moment: the server moves it on by itself.

    `told` is the run that goes on: this one, or one that it called and waits for."""
    deadline = asyncio.get_running_loop().time() + SETTLE_S
    try:
        while await _moves(engine, record, told) and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(LOOK_AGAIN_S)
            record = await engine.get(record.run_id)
    except Refused as refused:
        if refused.code != "scope_missing":  # a key that may only answer knows what the answer said
            raise
    return record


async def _moves(engine: RemoteEngine, record: RunRecord, told: str) -> bool:
    """Whether a run may go on by itself. One whose call has ended is about to."""
    if record.ended or record.paused:
        return False
    if record.status in MOVING or record.run_id == told:
        return record.status in MOVING
    called = await engine.get(told)
    return called.ended or called.status in MOVING


async def until_quiet(conversation: RemoteConversation, wait_s: float | None) -> ConversationView:
    """The conversation once nothing of it moves without a person, or the time is over."""

    async def quiet() -> None:
        async with aclosing(conversation.changes()) as changes:
            async for view in changes:
                if view.status != "active":
                    return

    with suppress(TimeoutError):
        await asyncio.wait_for(quiet(), wait_s)
    return await conversation.view()


async def follow_remotely(
    url: str,
    start: Callable[[RemoteEngine], Awaitable[RemoteRun]],
    wait_s: float | None,
    *,
    trace: bool,
    quiet: bool,
) -> tuple[RunRecord, list[JsonObject] | None, Exit]:
    """Start a run at a server, and follow it to its end."""
    async with AsyncExitStack() as stack:
        stop = await stack.enter_async_context(stop_event("the run goes on at the server"))
        engine = await stack.enter_async_context(connect(url))
        run = await start(engine)
        following = asyncio.create_task(_follow(engine, run.id, quiet))
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((following, stopped), timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
            if following.done():
                following.result()
        finally:
            await cancelled(following, stopped)
        record = await engine.get(run.id)
        traced = [event async for event in engine.events(run.id, trace=True)] if trace else None
    if not record.ended:
        echo(f"run {record.run_id} has not ended; it goes on at the server", err=True)
        return record, traced, Exit.STILL_WAITING
    return record, traced, Exit.DONE if record.status == "completed" else Exit.RUN_FAILED


async def _follow(engine: RemoteEngine, run: str, quiet: bool) -> None:
    async for event in engine.events(run, follow=True):  # over any restart of the server
        if not quiet:
            echo(event_line(event, run))
