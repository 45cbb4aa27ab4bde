"""Opening a store: to read it, to own it, or beside the process that owns it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, TypeVar, cast

from jeton.cli.options import given_options
from jeton.cli.output import echo, printable
from jeton.engine.engine import Engine
from jeton.engine.opening import open
from jeton.engine.views.record import RunRecord
from jeton.model.failure import Refused
from jeton.model.ids import RunId

if TYPE_CHECKING:
    from jeton.api.client.handles import RemoteConversation
    from jeton.api.client.remote import RemoteEngine

_Value = TypeVar("_Value")


def ask(store: str, question: Callable[[Engine], Awaitable[_Value]]) -> _Value:
    """Open a store for reading, and return the engine's answer to one question."""

    async def answer() -> _Value:
        async with AsyncExitStack() as stack:
            return await question(await reader_of(store, stack))

    return asyncio.run(answer())


def is_url(store: str) -> bool:
    """Whether the runs are those of a server."""
    return store.startswith(("http://", "https://"))


async def reader_of(store: str, stack: AsyncExitStack) -> Engine:
    """An engine that reads a store beside its owner, or asks a server."""
    if is_url(store):
        return await connected(store, stack)
    return await stack.enter_async_context(open(store, owner=False))


def remote_engine(engine: object) -> "RemoteEngine | None":
    """The engine as that of a server, if it is one."""
    return None if isinstance(engine, Engine) else cast("RemoteEngine", engine)


def remote_conversation(talk: object) -> "RemoteConversation | None":
    """The conversation as one of a server, if it is one."""
    from jeton.engine.talk.conversation import Conversation

    return None if isinstance(talk, Conversation) else cast("RemoteConversation", talk)


async def connected(url: str, stack: AsyncExitStack) -> Engine:
    """The engine of a server. It has the methods that verbs use; what it has not is refused."""
    from jeton.api.client import connect  # the client is loaded for a server only

    return cast("Engine", await stack.enter_async_context(connect(url)))


def local_only(store: str, verb: str, remedy: str = "run it where the store is, with --store") -> None:
    """Raise Refused for a verb that works on the store's own file."""
    if is_url(store):
        raise Refused("unsupported_store", f"`jeton {verb}` works on a store's own file, not at a server", remedy)


def no_app_at_server(app: str | None) -> None:
    """Raise Refused if Python functions are named for a run at a server: nothing would come of them."""
    if app is not None:
        problem = "a server runs its own Python functions, and no others"
        raise Refused("app_not_loaded", problem, "start the server with --app, and leave it out here")


def must_exist(store: str) -> None:
    """Raise Refused if there is no store: verbs on existing runs never create one."""
    if not is_url(store) and not Path(store).exists():
        raise Refused("no_store", f"there is no store at {store}", "check the path, or set JETON_STORE")


@asynccontextmanager
async def open_beside_owner(store: str, *, work: bool = False) -> AsyncGenerator[Engine]:
    """Open an existing store as its owner; if another process owns it, as a guest that leaves messages for it."""
    must_exist(store)
    async with AsyncExitStack() as stack:
        if is_url(store):
            yield await connected(store, stack)
            return
        try:
            engine = await stack.enter_async_context(open(store, work=work))
        except Refused as refused:
            if refused.code != "store_owned":
                raise
            engine = await stack.enter_async_context(open(store, owner=False))
        yield engine


async def settled(engine: Engine, run: str, known: RunRecord, told: str | None = None) -> RunRecord:
    """The record of a run after it went on: until it ends or waits here, for a moment at a server.

    `told` is the run that was told something, if that is one which it called."""
    there = remote_engine(engine)
    if there is not None:
        from jeton.cli.remote import settled as settled_there  # the client is loaded for a server only

        return await settled_there(there, known, told or known.run_id)
    await wait_until_idle(engine)
    return await engine.get(run)


async def wait_until_idle(engine: Engine) -> None:
    """Let runs go on until each has ended or waits. A guest returns at once: the owner moves the runs."""
    try:
        await engine.idle()
    except Refused as refused:
        if refused.code != "not_owner":
            raise
    echo_missing_functions(engine.needs_app)


def set_aside_remedy(run: str) -> str:
    """What to do about a run that is set aside."""
    options, name = given_options(), quote(run)
    return f"try it again with `jeton unpause {name}{options}`, or end it with `jeton cancel {name}{options}`"


def set_aside_sentences(engine: Engine) -> dict[RunId, str]:
    """The runs that are set aside, each with the problem and what to do."""
    return {run: f"{problem}: {set_aside_remedy(run)}" for run, problem in engine.set_aside.items()}


def echo_missing_functions(needs_app: Mapping[RunId, str]) -> None:
    """Print which runs lack a Python function."""
    for run, function in needs_app.items():
        echo(f"{run} needs {printable(function)}: name what defines it with --app", err=True)
