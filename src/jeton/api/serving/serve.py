"""Serve an engine: open the store, deploy, listen, and drain when told to stop."""

import asyncio
import ipaddress
import logging
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
import uvicorn

from jeton.api.app import App
from jeton.api.asgi import Asgi
from jeton.api.door.addresses import is_loopback
from jeton.api.door.callers import Callers
from jeton.api.public import public_routes
from jeton.api.routes.table import ROUTES
from jeton.api.serving.protocol import BoundedProtocol
from jeton.api.state import ServerState, Settings
from jeton.api.streams.writers import Streams
from jeton.api.watching.logs import quieten_strangers
from jeton.api.watching.metrics import Metrics
from jeton.engine.engine import Engine
from jeton.engine.opening import open
from jeton.model.failure import Refused
from jeton.telemetry.sinks.follow import follow_sinks

log = logging.getLogger("jeton.server")
REFRESH_S = 0.5
DRAIN_S = 10
COUNT_S = 1
OTLP_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
FAREWELL_S = 3


class Serving(msgspec.Struct, frozen=True):
    """The address of a server that is ready, and the key for this process alone, if it made one."""

    url: str
    key: str | None


class _Server(uvicorn.Server):
    """uvicorn's server; signals are left to `serve`, which has more to close."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


async def serve(
    store: str | PathLike[str],
    settings: Settings,
    port: int,
    ready: Callable[[Serving], None],
    deploy: Callable[[Engine], Awaitable[None] | None] | None = None,
    stop: asyncio.Event | None = None,
    *,
    watch: Callable[[Engine], Coroutine[Any, Any, None]] | None = None,
) -> None:
    """Serve a store until a signal, or `stop`. Raises Refused, and binds nothing, if nobody would need a key.

    `deploy` runs before anything is served, and `watch` for as long as it is."""
    quieten_strangers()
    stop = stop or asyncio.Event()
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError, RuntimeError, ValueError):  # not on the main thread
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
    async with open(store) as engine:
        callers = Callers(engine.access, open_to_all=settings.no_auth)
        await callers.load()
        state = ServerState(msgspec.structs.replace(settings, store=Path(store)), callers, engine.wall)
        key = own_key(settings, callers, state.wall())
        if deploy is not None and (pending := deploy(engine)) is not None:
            await pending
        sock = bind(settings.host, port)
        streams = Streams(engine, state)
        metrics = Metrics(engine, streams.by_kind, streams.dropped)
        state.metrics = metrics.text
        public = public_routes(engine, state)
        app = App(engine, state, ROUTES, public, streams.serve, metrics.counted, metrics.refused)
        server = server_of(app)
        serving = asyncio.ensure_future(server.serve([sock]))
        readers: list[Coroutine[Any, Any, None]] = [
            metrics.follow(),
            _follow_keys(callers),
            follow_sinks(engine, metrics.sent),
        ]
        if os.environ.get(OTLP_ENDPOINT):
            readers.append(_send_spans(engine))
        if watch is not None:
            readers.append(watch(engine))
        background = [asyncio.ensure_future(each) for each in readers]
        try:
            while not server.started and not serving.done():
                await asyncio.sleep(0.01)
            with suppress(TimeoutError):  # a large store is counted while requests are taken
                await asyncio.wait_for(metrics.begun.wait(), COUNT_S)
            ready(Serving(_url(settings.host, sock.getsockname()[1]), key))
            stopped = asyncio.ensure_future(stop.wait())
            await asyncio.wait((stopped, serving), return_when=asyncio.FIRST_COMPLETED)
            stopped.cancel()
        finally:
            state.draining.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(FAREWELL_S):  # each stream says goodbye by itself
                    while any(streams.open.values()):
                        await asyncio.sleep(0.02)
            server.should_exit = True
            for task in background:
                task.cancel()
            await asyncio.gather(serving, *background, return_exceptions=True)
            await state.close()


def own_key(settings: Settings, callers: Callers, now: int) -> str | None:
    """The key for this process alone, of a store without keys. Raises Refused for a server open to others."""
    if settings.no_auth:
        if not is_loopback(settings.host):
            problem = f"--no-auth would let anybody in who reaches {settings.host}"
            raise Refused("key_missing", problem, "bind to 127.0.0.1, or make a key with `jeton keys add`")
        return None
    if callers.usable(now):
        return None
    if not is_loopback(settings.host):
        problem = f"the store has no key, and {settings.host} can be reached by others"
        raise Refused("key_missing", problem, "make a key first with `jeton keys add`")
    return callers.make_own(now)


def bind(host: str, port: int) -> socket.socket:
    """A listening socket."""
    try:
        version = ipaddress.ip_address(host).version
    except ValueError:
        version = 4
    sock = socket.socket(socket.AF_INET6 if version == 6 else socket.AF_INET)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise Refused("os_error", f"cannot listen at {host}:{port}: {error}", "name another --port") from None
    return sock


def _url(host: str, port: int) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}"


def server_of(app: Asgi) -> "_Server":
    """A server for an application, with our bounds on what comes in."""
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="websockets-sansio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws_max_size=64 * 1024,
        timeout_graceful_shutdown=DRAIN_S,
        timeout_keep_alive=75,
        backlog=2048,
    )
    return _Server(config)


async def _follow_keys(callers: Callers) -> None:
    """Read the keys again and again: they are made and revoked beside the server too."""
    while True:
        await asyncio.sleep(REFRESH_S)
        try:
            await callers.refresh()
        except Exception:
            log.exception("the keys could not be read")


async def _send_spans(engine: Engine) -> None:
    """Send spans to the collector that the environment names. Without the SDK, say so and serve on."""
    from jeton.telemetry.follow import follow_spans
    from jeton.telemetry.send import SpanSender

    try:
        sender = await asyncio.to_thread(SpanSender)
    except Refused as refused:
        log.warning("no spans are sent: %s", refused)
        return
    await follow_spans(engine, sender)
