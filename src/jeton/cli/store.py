"""A store that may have an owner: with one we leave a message, without one we are it for as long as we are here."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from jeton.cli.output import echo, printable

if TYPE_CHECKING:
    from jeton.engine.engine import Engine


@asynccontextmanager
async def open_beside_owner(store: str, *, work: bool = False) -> "AsyncGenerator[Engine, None]":
    """The store as its owner if it has none, so that the run acts at once; else as a guest who leaves a message."""
    from jeton.engine.engine import open
    from jeton.model.failure import Refused

    if not Path(store).exists():
        raise Refused("no_store", f"there is no store at {store}", "check the path, or set JETON_STORE")
    opening = open(store, work=work)
    try:
        engine = await opening.__aenter__()
    except Refused as refused:
        if refused.code != "store_owned":
            raise
        opening = open(store, owner=False)
        engine = await opening.__aenter__()
    try:
        yield engine
    finally:
        await opening.__aexit__(None, None, None)


async def wait_until_idle(engine: "Engine") -> None:
    """If nobody else owns the store: wait until nothing in it is runnable, so that what was said has its effect."""
    from jeton.model.failure import Refused

    try:
        await engine.idle()
    except Refused as refused:
        if refused.code != "not_owner":
            raise
    for run, function in engine.needs_app.items():
        echo(f"{run} needs {printable(function)}: name what defines it with --app", err=True)
