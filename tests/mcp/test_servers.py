"""Servers that die, never answer, or misbehave: a failure that says why, and never a run that hangs."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

import jeton
from jeton.executor.mcp import client, servers, stdio
from tests.mcp.given import Data, calls, failure, is_alive, library, log_of, program, run, said

RETRIES: Data = {"retry_policy": {"max_attempts": 3, "initial_delay_ms": 10}}


def patient(tool: str) -> Data:
    """A call that is made again if the failure may pass."""
    found = calls(tool)
    found["nodes"]["call"]["action"]["execution"] = RETRIES
    return found


def starts(log: Path) -> list[int]:
    return [process for process, line in log_of(log) if line == "start"]


async def test_a_server_that_dies_is_started_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with jeton.open(tmp_path / "store.db") as engine:
        server = {"command": program("--log", str(log))}
        await engine.deploy(library({"s": server}, die=calls("die"), echo=calls("echo"), patient=patient("echo")))
        kind, message = failure(await run(engine, "die"))
        assert (kind, "it ended" in message) == ("mcp_unavailable", True)
        assert said(await run(engine, "echo")) == "[]"
        assert len(starts(log)) == 2
        os.kill(starts(log)[-1], signal.SIGKILL)  # between two calls
        assert said(await run(engine, "patient")) == "[]"
        assert len(starts(log)) == 3


@pytest.mark.long
async def test_a_server_that_always_dies_is_left_alone_for_a_while(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with jeton.open(tmp_path / "store.db") as engine:
        server = {"command": program("--log", str(log), "--mode", "ends")}
        await engine.deploy(library({"s": server}, echo=calls("echo")))
        failures = [failure(await run(engine, "echo")) for _ in range(servers.STARTS_PER_MINUTE + 1)]
    assert {kind for kind, _ in failures} == {"mcp_unavailable"}
    assert "cannot find my files" in failures[0][1], "what it said on stderr is in the failure"
    assert "within a minute" in failures[-1][1]
    assert len(starts(log)) == servers.STARTS_PER_MINUTE


async def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library({"s": {"command": [str(tmp_path / "nothing")]}}, echo=calls("echo")))
        assert failure(await run(engine, "echo"))[0] == "mcp_unavailable"


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library({"s": {"command": program(), "cwd": "nowhere"}}, echo=calls("echo")))
        kind, message = failure(await run(engine, "echo"))
    assert (kind, "No such file" in message) == ("mcp_unavailable", True)


@pytest.mark.long
async def test_a_server_that_never_answers_the_greeting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "CONNECT_S", 1.0)
    log = tmp_path / "log"
    async with jeton.open(tmp_path / "store.db") as engine:
        server = {"command": program("--log", str(log), "--mode", "silent")}
        await engine.deploy(library({"s": server}, echo=calls("echo")))
        kind, message = failure(await run(engine, "echo"))
    assert (kind, "did not answer within 1 s" in message) == ("mcp_unavailable", True)
    assert not any(map(is_alive, starts(log)))


async def test_a_tool_that_never_answers(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        server = {"command": program(), "timeout_ms": 500}
        await engine.deploy(library({"s": server}, hang=calls("hang"), echo=calls("echo")))
        assert failure(await run(engine, "hang")) == (
            "mcp_timeout",
            "MCP server 's', tool 'hang': no answer within 500 ms",
        )
        assert said(await run(engine, "echo")) == "[]", "others are answered by the same server"


async def test_a_message_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "MAX_MESSAGE_BYTES", 1_000_000)
    log = tmp_path / "log"
    async with jeton.open(tmp_path / "store.db") as engine:
        server = {"command": program("--log", str(log), "--mode", "floods")}
        await engine.deploy(library({"s": server}, echo=calls("echo")))
        kind, message = failure(await run(engine, "echo"))
    assert (kind, "more than 1000000 bytes" in message) == ("mcp_unavailable", True)
    assert not any(map(is_alive, starts(log)))


async def test_a_server_ends_with_its_children(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library({"s": {"command": program("--log", str(log))}}, child=calls("child")))
        child = int(said(await run(engine, "child")))
        assert is_alive(child)
    assert not is_alive(child)
    assert not any(map(is_alive, starts(log)))


async def test_a_run_that_is_cancelled_leaves_the_server_to_the_others(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with jeton.open(tmp_path / "store.db") as engine:
        server = {"command": program("--log", str(log))}
        await engine.deploy(library({"s": server}, hang=calls("hang"), echo=calls("echo")))
        hanging = await engine.start("hang", {})
        async with asyncio.timeout(20):
            while not any(line.startswith("call hang") for _, line in log_of(log)):
                await asyncio.sleep(0.02)
        await engine.cancel(hanging.id)
        assert (await engine.ended(hanging.id, 10)).status == "cancelled"
        assert said(await run(engine, "echo")) == "[]"
    assert len(starts(log)) == 1


async def test_the_older_protocol_and_what_a_server_does_not_get(tmp_path: Path) -> None:
    """A server that speaks the protocol of 2025, and asks the client for things in the middle of a call."""
    async with jeton.open(tmp_path / "store.db") as engine:
        found: Data = {tool: calls(tool) for tool in ("hello", "ask", "model", "folders")}
        await engine.deploy(library({"s": {"command": program(script="old_server.py")}}, **found))
        assert said(await run(engine, "hello")).startswith("hello")
        assert "input_required" in said(await run(engine, "ask"))
        assert said(await run(engine, "model")) == "Sampling not supported"
        assert said(await run(engine, "folders")) == "List roots not supported"
