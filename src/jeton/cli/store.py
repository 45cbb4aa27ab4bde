"""Opening a store: to read it, to own it, or beside the process that owns it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from shlex import quote
from typing import TypeVar

from jeton.cli.options import given_options
from jeton.cli.output import echo, printable
from jeton.engine.engine import Engine
from jeton.engine.opening import open
from jeton.model.failure import Refused
from jeton.model.ids import RunId

_Value = TypeVar("_Value")


def ask(store: str, question: Callable[[Engine], Awaitable[_Value]]) -> _Value:
    """Open a store for reading, and return the engine's answer to one question."""

    async def answer() -> _Value:
        async with open(store, owner=False) as engine:
            return await question(engine)

    return asyncio.run(answer())


def must_exist(store: str) -> None:
    """Raise Refused if there is no store: verbs on existing runs never create one."""
    if not Path(store).exists():
        raise Refused("no_store", f"there is no store at {store}", "check the path, or set JETON_STORE")


@asynccontextmanager
async def open_beside_owner(store: str, *, work: bool = False) -> AsyncGenerator[Engine]:
    """Open an existing store as its owner; if another process owns it, as a guest that leaves messages for it."""
    must_exist(store)
    async with AsyncExitStack() as stack:
        try:
            engine = await stack.enter_async_context(open(store, work=work))
        except Refused as refused:
            if refused.code != "store_owned":
                raise
            engine = await stack.enter_async_context(open(store, owner=False))
        yield engine


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
