"""A server in a process of its own, which can be killed, and clients that follow a stream from server to server."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus, WebSocketException

ROOT = Path(__file__).parents[3]
Data = dict[str, Any]

# Runs that call others and wait a little between: long enough to be killed in the middle.
LIBRARY = """
workflows:
  parent:
    initial_node: begin
    nodes:
      begin: {}
      call: {workflow: child, input_mapping: {n: n}}
      done: {}
    transitions:
      - {from: begin, to: call, foreach: {collection: "[1, 2, 3]", item_var: n}, sibling_group: all}
      - {from: call, to: done, synchronization: {strategy: all, sibling_group: all}}
  child:
    input_schema: {type: object, properties: {n: {type: integer}}}
    initial_node: first
    nodes:
      first: {action: {kind: mock, implementation: {output: {}}}}
      pause: {wait: {seconds: 0.3}}
      last: {action: {kind: mock, implementation: {output: {}}}}
    transitions:
      - {from: first, to: pause}
      - {from: pause, to: last}
"""


def lasting(rounds: int) -> str:
    """The same library, whose children wait so many times."""
    again = f"      - {{from: pause, to: pause, priority: 1, loop_config: {{max_iterations: {rounds}}}}}\n"
    last = "      - {from: pause, to: last}"
    return LIBRARY.replace(last, again + last.replace("last}", "last, priority: 2}"))


class Served:
    """A server on a fixed port, so that clients find the next one where the last one was."""

    def __init__(self, folder: Path, port: int, key: str) -> None:
        self.folder, self.port, self.key = folder, port, key
        self.url = f"http://127.0.0.1:{port}"
        self.headers = {"authorization": f"Bearer {key}"}
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        words = ["-m", "jeton.cli.main", "serve", "library.yaml", "--port", str(self.port), "--store", "s.db", "--json"]
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, *words, cwd=self.folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        assert self._process.stdout is not None
        said = await asyncio.wait_for(self._process.stdout.readline(), 60)
        assert json.loads(said)["serving"] == self.url

    async def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        await self._process.wait()


async def jeton(folder: Path, *words: str) -> Data:
    """What a verb says as JSON."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "jeton.cli.main", *words, "--json", cwd=folder, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    found: Data = json.loads(said)
    return found


@asynccontextmanager
async def served(folder: Path, port: int, library: str = LIBRARY) -> AsyncGenerator[Served, None]:
    """A server with a key of its store."""
    (folder / "library.yaml").write_text(library)
    key = (await jeton(folder, "keys", "add", "tests", "--scope", "admin", "--store", "s.db"))["key"]
    server = Served(folder, port, key)
    await server.start()
    try:
        yield server
    finally:
        await server.kill()


class Follower:
    """Follows the stream of one run to its end: by WebSocket, by SSE, or by both in turn, and from where it was."""

    def __init__(self, server: Served, run: str, ways: tuple[str, ...]) -> None:
        self._server, self._run, self._ways = server, run, ways
        self.events: list[Data] = []
        self.after: str | None = None
        self.status: str | None = None
        self.connections = 0

    async def follow(self) -> None:
        """Connect again and again until the end."""
        while self.status is None:
            way = self._ways[self.connections % len(self._ways)]
            self.connections += 1
            try:
                await (self._socket() if way == "websocket" else self._sse())
            except (OSError, WebSocketException, httpx2.HTTPError, EOFError):
                await asyncio.sleep(0.05)

    def _address(self) -> str:
        after = "" if self.after is None else f"&after={self.after}"
        return f"{self._server.url}/v1/stream?run={self._run}{after}"

    async def _socket(self) -> None:
        address = self._address().replace("http", "ws", 1)
        try:
            async with connect(address, additional_headers=self._server.headers, max_size=None) as socket:
                async for text in socket:
                    self.take(json.loads(text))
        except InvalidStatus as refused:
            if refused.response.status_code not in (429, 503):
                raise AssertionError(refused.response.body) from None

    async def _sse(self) -> None:
        headers = {**self._server.headers, "accept": "text/event-stream"}
        async with (
            httpx2.AsyncClient(timeout=30, headers=headers) as client,
            client.stream("GET", self._address()) as response,
        ):
            if response.status_code != 200:
                assert response.status_code in (204, 429, 503), await response.aread()
                return
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    self.take(json.loads(line.removeprefix("data: ")))

    def take(self, frame: Data) -> None:
        """One frame."""
        match frame["kind"]:
            case "event":
                self.events.append(frame["event"])
                self.after = frame["pos"]
            case "heartbeat" | "caught_up":
                self.after = frame["pos"]
            case "end":
                self.status = frame["status"]
            case _:
                pass


def faults_in(events: list[Data]) -> list[str]:
    """Gaps and repeats in what was followed: each run's events are numbered from 0."""
    following: dict[str, int] = {}
    found: list[str] = []
    for event in events:
        run, seq = event["run_id"], event["seq"]
        if seq != following.get(run, 0):
            found.append(f"{run}: {seq} came where {following.get(run, 0)} was due")
        following[run] = seq + 1
    return found


def free_port() -> int:
    """A port nobody listens at."""
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
