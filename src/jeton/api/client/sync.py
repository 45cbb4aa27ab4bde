"""A server's engine without `await`, for scripts."""

from collections.abc import Generator
from typing import cast

from jeton.api.client.remote import connect
from jeton.engine.engine import Engine
from jeton.engine.loop_thread import LoopThread
from jeton.engine.misuse import opens_sync
from jeton.engine.sync import SyncEngine


@opens_sync
def connect_sync(url: str, *, key: str | None = None) -> Generator[SyncEngine, None, None]:
    """Connect to a server for code that is not async, as `connect` does.

    `with jeton.connect_sync("http://127.0.0.1:8765", key="jtn_…") as engine:`"""
    with LoopThread() as loop:
        connecting = connect(url, key=key)
        engine = loop.wait(connecting.__aenter__())
        try:
            yield SyncEngine(cast("Engine", engine), loop)  # it has the engine's methods, a test sees to that
        finally:
            loop.wait(connecting.__aexit__(None, None, None))
