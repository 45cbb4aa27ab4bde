"""Opening a store: its host, an executor, and an engine on them."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from os import PathLike

from jeton.engine.collecting import fewer_collections
from jeton.engine.engine import Engine
from jeton.engine.misuse import opens
from jeton.engine.stores import Durability, open_host
from jeton.executor import Executor
from jeton.executor.secrets import redacted_logs

GRACE_S = 5.0


@opens("jeton.open")
async def open(
    store: str | PathLike[str],
    *,
    durability: Durability = "full",
    owner: bool = True,
    work: bool = True,
    grace_s: float = GRACE_S,
) -> AsyncGenerator[Engine, None]:
    """Open a store, which is created if it does not exist. Unfinished runs in it go on.

    One process owns a store, and only it moves runs; with `owner=False` the engine reads, and leaves messages for the
    owner. With `work=False` runs move and their tasks do not. On leaving, running tasks have `grace_s` seconds to
    finish; the rest is taken up when the store is next opened.
    """
    workers = Executor() if owner and work else None
    async with AsyncExitStack() as stack:
        host = await stack.enter_async_context(
            open_host(store, workers=workers, durability=durability, owner=owner, grace_s=grace_s)
        )
        if workers is not None:
            stack.enter_context(redacted_logs(workers.secrets))
            stack.enter_context(fewer_collections())
        yield Engine(host) if workers is None else Engine(host, workers.deltas, workers.pin_tools)
