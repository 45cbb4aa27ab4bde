"""`jeton serve` and `jeton keys` as they are called."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from jeton.cli.main import main
from tests.api.server import Running, serving

LISTED = {"id", "name", "scopes", "person", "created_at", "expires_at", "revoked_at", "last_used_at"}
JETON = (sys.executable, "-m", "jeton.cli.main")


def jeton(*arguments: str) -> Any:
    done = CliRunner().invoke(main, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@contextmanager
def served(
    store: Path, *arguments: str, port: int = 0
) -> Generator[tuple[Running, "subprocess.Popen[str]"], None, None]:
    """A server as a program of its own."""
    command = [*JETON, "serve", *arguments, "--store", str(store), "--port", str(port), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        yield Running(told["serving"], told["key"], store), process
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--host", "0.0.0.0"], id="no key"),
        pytest.param(["--host", "0.0.0.0", "--no-auth"], id="no auth"),
        pytest.param(["--host", "::"], id="no key, of the other kind"),
    ],
)
def test_a_server_that_lets_anybody_in_is_not_started(tmp_path: Path, arguments: list[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        call = ["serve", *arguments, "--port", str(port), "--store", str(tmp_path / "store.db"), "--json"]
        done = CliRunner().invoke(main, call)  # a port that is taken: binding it would be another problem
    assert (done.exit_code, json.loads(done.stdout)["code"]) == (2, "key_missing")


async def test_keys_are_followed_by_a_server_within_a_second(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    async with serving(store) as server:
        made = await asyncio.to_thread(jeton, "keys", "add", "ci", "--scope", "read,run", "--store", str(store))
        assert await comes_to(server, made["key"], 200)
        me = (await server.ask("GET", "/v1/me", key=made["key"])).json
        assert me == {"name": "ci", "person": None, "scopes": ["read", "run"]}
        await asyncio.to_thread(jeton, "keys", "revoke", made["id"], "--store", str(store))
        assert await comes_to(server, made["key"], 401)


async def comes_to(server: Running, key: str, status: int) -> bool:
    """Whether the key is answered like this within a second."""
    try:
        async with asyncio.timeout(1):
            while (await server.ask("GET", "/v1/me", key=key)).status != status:
                await asyncio.sleep(0.02)
    except TimeoutError:
        return False
    return True


def test_keys_are_listed_without_the_keys(tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    made = jeton("keys", "add", "anna's", "--scope", "answer", "--person", "anna", "--expires", "7", "--store", store)
    assert set(made) == {*LISTED, "key"}
    (listed,) = jeton("keys", "ls", "--store", store)["keys"]
    assert listed == {name: value for name, value in made.items() if name != "key"}
    assert made["key"].encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())


@pytest.mark.parametrize("scope", ["", "write", "read,write", "READ"])
def test_a_scope_that_there_is_not_is_refused(tmp_path: Path, scope: str) -> None:
    call = ["keys", "add", "ci", "--scope", scope, "--store", str(tmp_path / "store.db"), "--json"]
    done = CliRunner().invoke(main, call)
    assert (done.exit_code, json.loads(done.stdout)["code"]) == (2, "bad_argument")


async def test_a_server_drains_when_it_is_told_to_stop(tmp_path: Path) -> None:
    library = tmp_path / "numbers.yaml"
    library.write_text("workflows: {hold: {initial_node: a, nodes: {a: {wait: {seconds: 600}}}}}\n")
    with served(tmp_path / "store.db", str(library)) as (server, process):
        assert server.key is not None
        run = (await server.ask("POST", "/v1/runs", {"workflow": "hold"}, key=server.key)).json["run_id"]
        waiting = asyncio.ensure_future(server.ask("GET", f"/v1/runs/{run}?wait_ms=60000", key=server.key))
        await asyncio.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        assert (await waiting).json["run_id"] == run
        assert await asyncio.to_thread(process.wait, 20) == 0
