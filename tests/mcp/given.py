"""Servers for tests, workflows that call a tool, and short ways to run them on a real store."""

import asyncio
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from jeton.engine.engine import Engine
from jeton.engine.views.gates import GateView
from jeton.engine.views.record import RunRecord

HERE = Path(__file__).parent
WAIT_S = 30.0

Data = dict[str, Any]


def program(*options: str, script: str = "server.py") -> list[str]:
    """The command of a server that is a program."""
    return [sys.executable, str(HERE / script), *options]


def calls(tool: str, server: str = "s", *, node: Data | None = None, **implementation: Any) -> Data:
    """A workflow that calls a tool, with its input as the arguments, and whose output is the result."""
    action: Data = {"kind": "mcp", "implementation": {"server": server, "tool": tool, **implementation}}
    return {
        "initial_node": "call",
        "nodes": {"call": {"action": action, "output_mapping": {"output.result": "result"}, **(node or {})}},
    }


def library(servers: Data, settings: Data | None = None, **workflows: Data) -> Data:
    """Workflows and the servers they use."""
    return {"workflows": workflows, "project": {"settings": {"mcp": servers, **(settings or {})}}}


async def run(engine: Engine, workflow: str, input: Data | None = None) -> RunRecord:
    """The record of a run that has ended."""
    started = await engine.start(workflow, input or {})
    return await engine.ended(started.id, timeout=WAIT_S)


async def gate_of(engine: Engine, run: str) -> GateView:
    """The gate of a run, once it is open."""
    async with asyncio.timeout(WAIT_S):
        while not (gates := await engine.gates(run)):
            await asyncio.sleep(0.02)
    return gates[0]


def said(record: RunRecord) -> str:
    """The text of the tool's result."""
    assert record.status == "completed", record.error
    output: Any = record.output
    return str(output["result"]["text"])


def failure(record: RunRecord) -> tuple[str, str]:
    """The type and the message of a failed run's error."""
    assert record.error is not None, record
    return record.error.type, record.error.message


def log_of(path: Path) -> list[tuple[int, str]]:
    """What a server noted: its process, and a line."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [(int(line.partition(" ")[0]), line.partition(" ")[2]) for line in lines]


def is_alive(process: int) -> bool:
    """Whether a process runs."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def web_server(*options: str) -> AsyncGenerator[str]:
    """A server that speaks HTTP on this machine, and its address."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(*program("--http", str(port), *options))
    try:
        async with asyncio.timeout(WAIT_S):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    break
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        await process.wait()
