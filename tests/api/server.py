"""A real server on loopback, and a client that sends exactly the bytes it is told to."""

import asyncio
import base64
import json
import os
import secrets
import threading
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from jeton.actor.access.keys import ApiKey, Scope, hash_of, make_key
from jeton.api.serving.serve import Serving, serve
from jeton.api.state import Settings
from jeton.engine.engine import Engine
from jeton.engine.opening import open
from jeton.model.json import JsonObject

HUGE = 900_000_000
PATIENCE_S = 20
LIBRARY: JsonObject = {
    "workflows": {
        "double": {
            "input_schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}},
            "initial_node": "a",
            "nodes": {"a": {"output_mapping": {"output.n": "input.n * 2"}}},
        },
        "hold": {"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 600}}}},
        "ask": {
            "initial_node": "gate",
            "nodes": {"gate": {"gate": {"title": "Ship it?"}, "output_mapping": {"output.by": "result"}}},
        },
        "heard": {"initial_node": "a", "nodes": {"a": {"output_mapping": {"output.n": "input.n"}}}},
    },
    "triggers": {
        "signed": {"type": "webhook", "path": "orders/paid", "secret": "HOOK", "start": "heard"},
        "unsigned": {"type": "webhook", "path": "open", "start": "heard"},
    },
    "project": {"settings": {"secrets": {"HOOK": {"env": "JETON_TEST_HOOK"}}}},
}
HOOK_SECRET = "swordfish-in-the-canary-cage"
os.environ.setdefault("JETON_TEST_HOOK", HOOK_SECRET)


class Reply(NamedTuple):
    """An answer as it came."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str | None:
        """The code of a problem. Whatever says that it is one must have all the parts of one."""
        if not self.body or self.headers.get("content-type") != "application/problem+json":
            return None
        found = self.json
        assert found["status"] == self.status
        assert found["type"] == f"urn:jeton:{found['code']}"
        assert {"title", "detail", "problem", "remedy", "request_id"} <= set(found)
        return str(found["code"])


class Running(NamedTuple):
    """A server that runs, the key for its process alone if it made one, and its store."""

    url: str
    key: str | None
    store: Path

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str | None = None,
        headers: Sequence[tuple[str, str]] = (),
        announce: int | None = None,
    ) -> Reply:
        """Ask for something. A body is sent as JSON; bytes as they are; `announce` says how long a body is to be."""
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        given = {name.lower() for name, _ in headers}
        sent = [*headers]
        if "host" not in given:
            sent.insert(0, ("Host", f"127.0.0.1:{self.port}"))
        if key is not None:
            sent.append(("Authorization", f"Bearer {key}"))
        if body is not None and "content-type" not in given:
            sent.append(("Content-Type", "application/json"))
        if (content or announce is not None or method != "GET") and "transfer-encoding" not in given:
            sent.append(("Content-Length", str(len(content) if announce is None else announce)))
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent), "", ""]
        return await self.send("\r\n".join(lines).encode("latin-1") + content, has_body=method != "HEAD")

    async def upgrade(self, path: str, headers: Sequence[tuple[str, str]] = ()) -> Reply:
        """Ask for a socket, and give the answer to that."""
        wanted = (
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Key", base64.b64encode(os.urandom(16)).decode()),
            ("Sec-WebSocket-Version", "13"),
        )
        return await self.ask("GET", path, headers=[*wanted, *headers])

    async def send(self, content: bytes, has_body: bool = True) -> Reply:
        """Send bytes on a connection of their own, and read one answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(content)
            return await asyncio.wait_for(read_reply(reader, has_body), PATIENCE_S)
        finally:
            writer.transport.abort()


async def read_reply(reader: asyncio.StreamReader, has_body: bool = True) -> Reply:
    """One answer from a connection."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = [line.split(": ", 1) for line in head[1:] if line]
    headers = {name.lower(): value for name, value in pairs}
    assert len(headers) == len(pairs), "a header came twice"
    body = await reader.readexactly(int(headers.get("content-length", "0")) if has_body else 0)
    return Reply(int(head[0].split()[1]), headers, body)


@asynccontextmanager
async def serving(
    store: Path, settings: Settings | None = None, library: JsonObject | None = None
) -> AsyncGenerator[Running, None]:
    """Serve a store in this process, on a free port."""
    stop, ready = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def deploy(engine: Engine) -> None:
        await engine.deploy(LIBRARY if library is None else library)

    def is_ready(told: Serving) -> None:
        ready.set_result(told)

    server = asyncio.ensure_future(
        serve(store, settings or Settings(), 0, is_ready, lambda engine: asyncio.ensure_future(deploy(engine)), stop)
    )
    await asyncio.wait((server, ready), return_when=asyncio.FIRST_COMPLETED)
    if server.done():
        server.result()
    told: Serving = ready.result()
    try:
        yield Running(told.url, told.key, store)
    finally:
        stop.set()
        await server


async def add_key(
    store: Path,
    *scopes: Scope,
    name: str = "test",
    person: str | None = None,
    expires_at: int | None = None,
    revoked_at: int | None = None,
) -> str:
    """Put a key into a store, beside its owner if it has one, and give its text."""
    text, key_id = make_key(secrets.choice)
    key = ApiKey(key_id, hash_of(text), name, scopes, person, 1, expires_at, revoked_at)
    if not store.exists():
        async with open(store, work=False):
            pass
    async with open(store, owner=False) as engine:
        await engine.access.add_key(key)
    return text


@contextmanager
def serving_in_thread(store: Path, settings: Settings | None = None) -> Generator[Running, None, None]:
    """Serve a store in another thread, for the tests of a whole module."""
    ready: Future[Running] = Future()
    stop = threading.Event()

    async def serve_until_told() -> None:
        async with serving(store, settings) as running:
            ready.set_result(running)
            while not stop.is_set():
                await asyncio.sleep(0.02)

    def run() -> None:
        try:
            asyncio.run(serve_until_told())
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
            raise

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield ready.result(PATIENCE_S)
    finally:
        stop.set()
        thread.join(PATIENCE_S)
