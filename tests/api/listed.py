"""A server in this process: a real one on a free port of the loopback address, in a thread of its own."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from jeton.api.listed import codes_of
from jeton.api.router import Router
from jeton.api.routes.table import ROUTES
from jeton.api.serving.serve import Serving, serve
from jeton.api.state import Settings
from jeton.engine.engine import Engine
from jeton.model.json import Json

T = TypeVar("T")
ROUTER = Router(ROUTES)
READY_S = 20


class Server:
    """Runs from `start` to `stop`. `key` may do everything."""

    def __init__(self, store: Path, settings: Settings | None = None) -> None:
        self.store = store
        self._settings = settings or Settings()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._error: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self.engine: Engine
        self.url, self.key = "", ""

    def start(self) -> "Server":
        self._thread.start()
        assert self._ready.wait(READY_S)
        if self._error is not None:
            raise self._error
        return self

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(READY_S)
        assert not self._thread.is_alive()

    def call(self, act: Callable[[Engine], Awaitable[T]]) -> T:
        """Use the server's own engine."""

        async def acted() -> T:
            return await act(self.engine)

        return asyncio.run_coroutine_threadsafe(acted(), self._loop).result(READY_S)

    def client(self, key: str | None = None) -> httpx2.Client:
        """A client with this key. It refuses answers that the table of routes does not list."""
        headers = {"authorization": f"Bearer {key or self.key}"}
        return httpx2.Client(
            base_url=self.url, headers=headers, timeout=READY_S, event_hooks={"response": [check_listed]}
        )

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._error = error
            self._ready.set()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()

        def ready(serving: Serving) -> None:
            self.url, self.key = serving.url, serving.key or ""
            self._ready.set()

        def keep(engine: Engine) -> None:
            self.engine = engine

        await serve(self.store, self._settings, 0, ready, keep, self._stop)


def unlisted(method: str, path: bytes, status: int, code: str | None) -> str | None:
    """What is wrong with an answer: a status or code that the route of the request does not list."""
    found = ROUTER.find(path)
    route = None if found is None else found.routes.get(method)
    if route is None or (code is None and status in route.answers):
        return None
    if code in codes_of(route).get(status, ()):
        return None
    return f"{route.method} {route.path} answered {status} {code}, and does not list it"


def check_listed(response: httpx2.Response) -> None:
    """Fail for an answer that is not listed, or for a problem that is not one."""
    if response.status_code < 400:
        return
    response.read()
    said = response.json()
    path = response.request.url.raw_path.partition(b"?")[0]
    assert response.headers["content-type"] == "application/problem+json"
    assert unlisted(response.request.method, path, response.status_code, said["code"]) is None
    assert said["status"] == response.status_code
    assert said["type"] == f"urn:jeton:{said['code']}"
    assert said["request_id"] == response.headers["x-request-id"]


def ok(response: httpx2.Response, status: int = 200) -> Any:
    """The body of an answer with this status."""
    assert response.status_code == status, response.text
    return response.json() if response.content else None


def code(response: httpx2.Response) -> tuple[int, str]:
    """The status and the code of a problem."""
    body: dict[str, Json] = response.json()
    return response.status_code, str(body["code"])
