"""A store behind a real server on loopback, which users reach with `jeton.connect`.

One server listens for all cases of a module; each case has a store, an engine and an application of its own."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import cast

import jeton
from jeton.api.apart.process import CHECK_S, Apart
from jeton.api.app import App
from jeton.api.asgi import Receive, Scope, Send
from jeton.api.door.callers import Callers
from jeton.api.public import public_routes
from jeton.api.routes.table import ROUTES
from jeton.api.serving.serve import bind, server_of
from jeton.api.state import ServerState, Settings
from jeton.api.streams.writers import Streams
from jeton.engine.engine import Engine
from tests.conformance.hosts import Opened, sqlite

APP = "tests.conformance.app"


class Listening:
    """A server, the application that answers now, and the process that checks definitions for all of them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.app: App | None = None
        self.checking = Apart(CHECK_S, APP)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.app is not None, "a request came between two cases"
        await self.app(scope, receive, send)


@asynccontextmanager
async def listening() -> AsyncGenerator[Listening, None]:
    """Listen on a free port."""
    sock = bind("127.0.0.1", 0)
    listens = Listening(f"http://127.0.0.1:{sock.getsockname()[1]}")
    server = server_of(listens)
    running = asyncio.ensure_future(server.serve([sock]))
    while not server.started:
        await asyncio.sleep(0.01)
    yield listens
    server.should_exit = True
    await running
    await listens.checking.close()


@asynccontextmanager
async def served(listens: Listening) -> AsyncGenerator[Opened, None]:
    """A store on a file behind the server, in real time. The store is sound afterwards."""
    async with sqlite("normal") as opened:
        engine = opened.engine
        callers = Callers(engine.access)
        state = ServerState(Settings(app=APP), callers, engine.wall)
        state.checking = listens.checking
        streams = Streams(engine, state)
        listens.app = App(engine, state, ROUTES, public_routes(engine, state), streams.serve)
        async with jeton.connect(listens.url, key=callers.make_own(state.wall())) as remote:
            yield opened._replace(face=cast("Engine", remote), remote=True)
        state.draining.set()
        await state.simulating.close()
        listens.app = None
