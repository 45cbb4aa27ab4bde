"""Servers by HTTP: headers and tokens from secrets, and answers that are not what they should be."""

import asyncio
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.executor.mcp import http
from tests.mcp.given import Data, calls, failure, library, run, said, web_server

SECRETS: Data = {"secrets": {"KEY": {"env": "THE_KEY"}}}


@pytest.fixture(autouse=True)
def the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "key-from-a-secret")


class Recorded:
    """What a hand-made HTTP server was asked, and how it answers."""

    def __init__(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.status, self.body, self.headers = status, body, headers
        self.asked: list[tuple[str, dict[str, str], bytes]] = []


@contextmanager
def answering(recorded: Recorded) -> Generator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("content-length", 0))
            recorded.asked.append((self.path, dict(self.headers), self.rfile.read(size)))
            self.send_response(recorded.status)
            for name, value in recorded.headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("content-length", str(len(recorded.body)))
            self.end_headers()
            self.wfile.write(recorded.body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def test_a_server_elsewhere(tmp_path: Path) -> None:
    async with web_server() as url, jeton.open(tmp_path / "store.db") as engine:
        server = {"url": url, "headers": {"X-Key": {"secret": "KEY"}}, "timeout_ms": 2000}
        found = {tool: calls(tool) for tool in ("echo", "headers", "hang", "job", "ask")}
        await engine.deploy(library({"s": server}, SECRETS, **found))
        assert said(await run(engine, "echo", {"a": 1})) == "[('a', 1)]"
        assert said(await run(engine, "headers")) == "[secret KEY]"
        assert failure(await run(engine, "hang"))[0] == "mcp_timeout"
        assert said(await run(engine, "job")) == "done"
        asking = await engine.start("ask", {})
        await engine.idle()
        await engine.answer(asking.id, {"name": "Ada"})
        assert said(await engine.ended(asking.id, 30)) == "hello Ada"


@pytest.mark.parametrize("mode", ["json", ""], ids=["plain JSON", "a stream of events"])
async def test_an_answer_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setattr(http, "MAX_ANSWER_BYTES", 200_000)
    async with web_server("--mode", mode) as url, jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library({"s": {"url": url, "timeout_ms": 5000}}, big=calls("big"), echo=calls("echo")))
        assert failure(await run(engine, "big", {"size": 300_000}))[0] in ("mcp_unavailable", "mcp_protocol")
        assert said(await run(engine, "echo")) == "[]", "the next call is made on a new connection"


async def test_nobody_is_there(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library({"s": {"url": "http://127.0.0.1:1/mcp"}}, echo=calls("echo")))
        assert failure(await run(engine, "echo"))[0] == "mcp_unavailable"


async def test_a_redirect_to_another_place_is_not_followed(tmp_path: Path) -> None:
    elsewhere = Recorded(200, b"{}")
    with answering(elsewhere) as target, answering(Recorded(307, location=f"{target}/mcp")) as url:
        async with jeton.open(tmp_path / "store.db") as engine:
            server = {"url": f"{url}/mcp", "headers": {"X-Key": {"secret": "KEY"}}}
            await engine.deploy(library({"s": server}, SECRETS, echo=calls("echo")))
            assert failure(await run(engine, "echo"))[0] == "mcp_unavailable"
    assert elsewhere.asked == [], "neither the request nor the secret leaves for another place"


async def test_a_token_is_fetched_with_credentials_of_a_client(tmp_path: Path) -> None:
    token = json.dumps({"access_token": "token-1", "token_type": "Bearer", "expires_in": 3600}).encode()
    tokens, mcp = Recorded(200, token, content_type="application/json"), Recorded(503)
    with answering(tokens) as token_url, answering(mcp) as url:
        async with jeton.open(tmp_path / "store.db") as engine:
            auth = {
                "token_url": f"{token_url}/token",
                "client_id": "me",
                "client_secret": {"secret": "KEY"},
                "scope": "a b",
            }
            await engine.deploy(library({"s": {"url": f"{url}/mcp", "auth": auth}}, SECRETS, echo=calls("echo")))
            assert failure(await run(engine, "echo"))[0] in ("mcp_unavailable", "mcp_protocol")
    assert len(tokens.asked) == 2 < len(mcp.asked), (
        "one token for all requests of a connection: deployment, and the call"
    )
    path, headers, body = tokens.asked[0]
    basic = "Basic bWU6a2V5LWZyb20tYS1zZWNyZXQ="  # me:key-from-a-secret
    assert (path, headers["Authorization"]) == ("/token", basic)
    assert body == b"grant_type=client_credentials&scope=a+b"
    assert {headers["Authorization"] for _, headers, _ in mcp.asked} == {"Bearer token-1"}


async def test_a_token_that_is_not_given(tmp_path: Path) -> None:
    mcp = Recorded(200)
    with answering(Recorded(403)) as token_url, answering(mcp) as url:
        async with jeton.open(tmp_path / "store.db") as engine:
            auth = {"token_url": f"{token_url}/token", "client_id": "me", "client_secret": {"secret": "KEY"}}
            await engine.deploy(library({"s": {"url": f"{url}/mcp", "auth": auth}}, SECRETS, echo=calls("echo")))
            kind, message = failure(await run(engine, "echo"))
    assert (kind, "no token" in message, mcp.asked) == ("mcp_unavailable", True, [])


async def test_calls_at_the_same_time_share_a_connection(tmp_path: Path) -> None:
    async with web_server() as url, jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library({"s": {"url": url}}, echo=calls("echo")))
        runs = [await engine.start("echo", {"n": n}) for n in range(20)]
        ended = await asyncio.gather(*(engine.ended(each.id, 60) for each in runs))
    assert [said(record) for record in ended] == [f"[('n', {n})]" for n in range(20)]
