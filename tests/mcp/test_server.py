"""`jeton mcp` as other programs see it: a real process, and the SDK's own client."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
import yaml
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

import jeton
from jeton.executor.mcp.tasks import (
    Acknowledged,
    GetTask,
    TaskCreated,
    TaskParams,
    TasksExtension,
    TaskState,
    UpdateParams,
    UpdateTask,
)
from tests.mcp.given import Data, calls, free_port, library, program

ROOT = Path(__file__).parents[2]
OK: Data = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}


def node(kind: str, output: Data, **implementation: Any) -> Data:
    return {"action": {"kind": kind, "implementation": implementation}, "output_mapping": output}


WORKFLOWS: Data = {
    "double": {
        "description": "Doubles a number.",
        "input_schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}},
        "initial_node": "a",
        "nodes": {"a": {"output_mapping": {"output.n": "input.n * 2"}}},
    },
    "ship": {
        "initial_node": "ask",
        "nodes": {"ask": {"gate": {"title": "Ship it?", "schema": OK}, "output_mapping": {"output.go": "result.ok"}}},
    },
    "choose": {
        "initial_node": "ask",
        "nodes": {
            "ask": {
                "gate": {"title": "Which?", "schema": {"type": "array"}},
                "output_mapping": {"output.all": "result"},
            }
        },
    },
    "slow": {
        "initial_node": "rest",
        "nodes": {"rest": {"wait": {"seconds": 1.5}, "output_mapping": {"output.rested": "true"}}},
    },
    "slow_ship": {
        "initial_node": "rest",
        "nodes": {
            "rest": {"wait": {"seconds": 1}},
            "ask": {"gate": {"title": "Ship it?", "schema": OK}, "output_mapping": {"output.go": "result.ok"}},
        },
        "transitions": [{"from": "rest", "to": "ask"}],
    },
    "broken": {
        "initial_node": "a",
        "nodes": {"a": node("fail", {}, type="no_stock", message="none left")},
    },
    "prints": {
        "initial_node": "a",
        "nodes": {"a": node("shell", {"output.code": "result.exit_code"}, argv=["true"])},
    },
    "hidden": {"initial_node": "a", "nodes": {"a": {}}},
}
EXPOSED = [name for name in WORKFLOWS if name != "hidden"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    settings = {"mcp_server": {"expose": EXPOSED, "wait_ms": 500}}
    (folder / "library.yaml").write_text(yaml.safe_dump({"workflows": WORKFLOWS, "project": {"settings": settings}}))
    return folder


def command(*words: str) -> list[str]:
    return ["-m", "jeton.cli.main", "mcp", *words]


def process(folder: Path, *words: str) -> StdioServerParameters:
    env = {"PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    return StdioServerParameters(command=sys.executable, args=command(*words), env=env, cwd=folder)


@asynccontextmanager
async def client(folder: Path, *words: str, **more: Any) -> AsyncGenerator[Client]:
    async with Client(process(folder, "--file", "library.yaml", *words), **more) as found:
        yield found


def text(result: types.CallToolResult) -> str:
    (part,) = result.content
    assert isinstance(part, types.TextContent)
    return part.text


async def says_yes(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    assert isinstance(params, types.ElicitRequestFormParams)
    assert params.message == "Ship it?"
    return types.ElicitResult(action="accept", content={"ok": True})


async def test_what_is_exposed_is_a_tool_and_nothing_else(project: Path) -> None:
    async with client(project) as server:
        tools = {tool.name: tool for tool in (await server.list_tools()).tools}
        assert set(tools) == {*EXPOSED, "run_status", "run_result", "run_answer"}
        assert tools["double"].description == "Doubles a number."
        assert tools["double"].input_schema == WORKFLOWS["double"]["input_schema"]
        assert tools["ship"].input_schema == {"type": "object"}
        with pytest.raises(MCPError, match="no tool 'hidden'"):
            await server.call_tool("hidden", {})

        done = await server.call_tool("double", {"n": 21})
        assert (done.structured_content, json.loads(text(done))) == ({"n": 42}, {"n": 42})
        wrong = await server.call_tool("double", {"n": "x"})
        assert wrong.is_error
        assert "input_invalid" in text(wrong)
        broken = await server.call_tool("broken", {})
        assert (broken.is_error, text(broken)) == (True, "no_stock: none left")
        assert (await server.call_tool("prints", {})).structured_content == {"code": 0}


async def test_another_client_starts_a_workflow_with_a_gate_and_finishes_it(project: Path) -> None:
    async with client(project, elicitation_callback=says_yes) as server:
        assert (await server.call_tool("ship", {})).structured_content == {"go": True}
    async with client(project, elicitation_callback=says_yes, mode="legacy") as older:
        assert (await older.call_tool("ship", {})).structured_content == {"go": True}, "asked in the middle of the call"


@pytest.mark.long
async def test_a_question_is_answered_by_another_connection(project: Path) -> None:
    """The state of the question is the run's id, so that a client can come back with the answer days later."""
    async with client(project, elicitation_callback=says_yes) as server:
        asked = await server.session.call_tool("choose", {}, allow_input_required=True)
        assert isinstance(asked, types.InputRequiredResult)
        ((gate, request),) = (asked.input_requests or {}).items()
        assert isinstance(request, types.ElicitRequest)
        assert isinstance(request.params, types.ElicitRequestFormParams)
        assert list(request.params.requested_schema["properties"]) == ["json"]
    async with client(project, elicitation_callback=says_yes) as server:
        bad = types.ElicitResult(action="accept", content={"json": "[1,"})
        refused = await server.session.call_tool(
            "choose", {}, input_responses={gate: bad}, request_state=asked.request_state, allow_input_required=True
        )
        assert isinstance(refused, types.CallToolResult)
        assert "no JSON" in text(refused)
        good = types.ElicitResult(action="accept", content={"json": "[1, 2]"})
        done = await server.session.call_tool(
            "choose", {}, input_responses={gate: good}, request_state=asked.request_state, allow_input_required=True
        )
    assert isinstance(done, types.CallToolResult)
    assert done.structured_content == {"all": [1, 2]}


@pytest.mark.long
async def test_a_client_without_questions_and_tasks_has_tools_for_both(project: Path) -> None:
    async with client(project) as server:
        waiting = (await server.call_tool("ship", {})).structured_content
        assert (waiting["status"], waiting["asks"][0]["title"]) == ("asking", "Ship it?")
        refused = await server.call_tool("run_answer", {"run_id": waiting["run_id"], "value": {"ok": 7}})
        assert (refused.is_error, "answer_refused" in text(refused)) == (True, True)
        done = await server.call_tool("run_answer", {"run_id": waiting["run_id"], "value": {"ok": False}})
        assert done.structured_content == {"go": False}

        slow = (await server.call_tool("slow", {})).structured_content
        assert slow["status"] == "working"
        status = (await server.call_tool("run_status", {"run_id": slow["run_id"]})).structured_content
        assert status == {"run_id": slow["run_id"], "status": "working"}
        async with asyncio.timeout(20):
            while (result := (await server.call_tool("run_result", {"run_id": slow["run_id"]})).structured_content).get(
                "status"
            ) == "working":
                pass
        assert result == {"rested": True}
        for unknown in ("nothing", "nothing#1"):
            assert "unknown_run" in text(await server.call_tool("run_status", {"run_id": unknown}))


async def test_long_work_is_a_task_with_the_id_of_the_run(project: Path) -> None:
    async def task(server: Client, id: str, *statuses: str) -> TaskState:
        async with asyncio.timeout(20):
            while True:
                found = await server.session.send_request(GetTask(params=TaskParams(task_id=id)), TaskState)
                if found.status in statuses:
                    return found
                await asyncio.sleep(0.1)

    async with client(project, extensions=[TasksExtension()], elicitation_callback=says_yes) as server:
        made = await server.session.call_tool("slow", {}, allow_claimed=True, allow_input_required=True)
        assert isinstance(made, TaskCreated)
        done = await task(server, made.task_id, "completed")
        assert types.CallToolResult.model_validate(done.result).structured_content == {"rested": True}
        shown = subprocess.run(
            [sys.executable, "-m", "jeton.cli.main", "show", made.task_id, "--json"],
            cwd=project,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert json.loads(shown.stdout)["status"] == "completed", "the task's id is the run's"

        asking = await server.session.call_tool("slow_ship", {}, allow_claimed=True, allow_input_required=True)
        assert isinstance(asking, TaskCreated)
        (gate,) = (await task(server, asking.task_id, "input_required")).input_requests or {}
        yes = types.ElicitResult(action="accept", content={"ok": True})
        update = UpdateTask(params=UpdateParams(task_id=asking.task_id, input_responses={gate: yes}))
        await server.session.send_request(update, Acknowledged)
        done = await task(server, asking.task_id, "completed")
        assert types.CallToolResult.model_validate(done.result).structured_content == {"go": True}
        with pytest.raises(MCPError, match="no work"):
            await task(server, "nothing", "completed")


async def test_a_call_with_a_key_starts_one_run(project: Path) -> None:
    meta: Any = {"dev.jeton/idempotencyKey": "order-7"}
    async with client(project) as server:
        ids = {(await server.call_tool("ship", {}, meta=meta)).structured_content["run_id"] for _ in range(2)}
        assert len(ids) == 1
        conflict = await server.call_tool("ship", {"other": 1}, meta=meta)
        assert (conflict.is_error, "key_conflict" in text(conflict)) == (True, True)


@pytest.mark.long
async def test_jeton_calls_jeton(project: Path, tmp_path: Path) -> None:
    """One project as the server of another: a gate of the first is a question in the second."""
    words = command("--file", str(project / "library.yaml"), "--store", str(tmp_path / "inner.db"))
    env = {"PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    inner: Data = {"command": [sys.executable, *words], "env": env}
    async with jeton.open(tmp_path / "outer.db") as engine:
        await engine.deploy(library({"s": inner}, ship=calls("ship"), slow=calls("slow")))
        asking = await engine.start("ship", {})
        async with asyncio.timeout(30):
            while not (gates := await engine.gates(asking.id)):
                await asyncio.sleep(0.05)
        assert gates[0].title == "MCP server 's', tool 'ship' asks: Ship it?"
        await engine.answer(asking.id, {"ok": True})
        assert (await engine.ended(asking.id, 30)).output == {"result": {"go": True}}
        slow = await engine.start("slow", {})
        assert (await engine.ended(slow.id, 30)).output == {"result": {"rested": True}}


# by HTTP


@asynccontextmanager
async def served(folder: Path, token: str) -> AsyncGenerator[str]:
    port = free_port()
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "JETON_MCP_TOKEN": token}
    words = command("--file", "library.yaml", "--http", "--port", str(port), "--store", "http.db", "--json")
    started = subprocess.Popen([sys.executable, *words], cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
    try:
        async with asyncio.timeout(40):
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
        started.terminate()
        printed, _ = started.communicate(timeout=20)
    assert json.loads(printed) == {"url": f"http://127.0.0.1:{port}/mcp", "exposed": EXPOSED}


async def test_by_http_every_request_needs_the_token(project: Path) -> None:
    token = "a-token-for-tests"
    async with served(project, token) as url, httpx2.AsyncClient() as plain:
        base = url.removesuffix("/mcp")
        for path in ("/mcp", "/", "/mcp/", "/health", "/docs"):
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": token}):
                for method in ("GET", "POST", "DELETE", "OPTIONS"):
                    answer = await plain.request(method, f"{base}{path}", headers=headers)
                    assert answer.status_code == 401, (method, path)
        right = {"Authorization": f"Bearer {token}"}
        assert (await plain.get(f"{base}/health", headers=right)).status_code == 404
        forged = await plain.post(url, headers={**right, "Host": "evil.example"}, json={})
        assert forged.status_code in (403, 421), "another host name is a rebound one"
        async with (
            httpx2.AsyncClient(headers=right) as known,
            Client(streamable_http_client(url, http_client=known), elicitation_callback=says_yes) as server,
        ):
            assert (await server.call_tool("double", {"n": 4})).structured_content == {"n": 8}
            assert (await server.call_tool("ship", {})).structured_content == {"go": True}


# the command


def jeton_mcp(folder: Path, *words: str) -> tuple[int, str, str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, *command(*words)], cwd=folder, env=env, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


def test_nothing_is_served_by_itself(tmp_path: Path) -> None:
    (tmp_path / "library.yaml").write_text(yaml.safe_dump({"workflows": WORKFLOWS}))
    code, _, problem = jeton_mcp(tmp_path, "--file", "library.yaml")
    assert (code, "nothing is exposed" in problem) == (2, True)
    code, _, problem = jeton_mcp(tmp_path, "--file", "library.yaml", "--expose", "nobody")
    assert code == 3


@pytest.mark.long
async def test_what_was_deployed_is_served_without_a_file(project: Path, tmp_path: Path) -> None:
    async with Client(process(project, "--file", "library.yaml", "--store", str(tmp_path / "s.db"))) as server:
        assert (await server.call_tool("double", {"n": 1})).structured_content == {"n": 2}
    async with Client(process(project, "--expose", "hidden", "--store", str(tmp_path / "s.db"))) as server:
        names = {tool.name for tool in (await server.list_tools()).tools}
    assert {"hidden", "double", "ship"} <= names


@pytest.mark.long
def test_pins_are_listed_and_made_again(tmp_path: Path) -> None:
    described = tmp_path / "described"
    described.write_text("Gives its arguments back.")
    source = library({"s": {"command": program("--describe", str(described))}}, echo=calls("echo"))
    (tmp_path / "library.yaml").write_text(yaml.safe_dump(source))
    run = [sys.executable, "-m", "jeton.cli.main", "run", "library.yaml", "echo", "--input", "{}", "--json"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}

    def ran() -> Data:
        done = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
        found: Data = json.loads(done.stdout)
        return found

    assert ran()["status"] == "completed"
    (first,) = json.loads(jeton_mcp(tmp_path, "pins", "--json")[1])["pins"]
    assert (first["server"], first["tool"], first["description"]) == ("s", "echo", "Gives its arguments back.")
    described.write_text("Gives them back, or not.")
    assert ran()["error"]["type"] == "mcp_tool_changed"
    code, printed, _ = jeton_mcp(tmp_path, "pin", "s", "--json")
    (again,) = json.loads(printed)["pins"]
    assert (code, again["changed"], again["description"]) == (0, True, "Gives them back, or not.")
    assert ran()["status"] == "completed"
    assert "Gives them back" in jeton_mcp(tmp_path, "pins")[1]
    code, printed, _ = jeton_mcp(tmp_path, "pin", "s", "nothing", "--json")
    assert (code, json.loads(printed)["code"]) == (3, "unknown_tool")
    code, printed, _ = jeton_mcp(tmp_path, "pin", "t", "--json")
    assert (code, json.loads(printed)["code"]) == (3, "unknown_server")
    assert jeton_mcp(tmp_path, "pni")[0] == 2
