"""Agents and MCP: a tool of a server in a conversation, and an agent as a tool of `jeton mcp`."""

import asyncio
from pathlib import Path
from typing import Any

import mcp_types as types
import yaml
from mcp import Client

import jeton
from tests.mcp.given import Data, program
from tests.mcp.test_server import process, text


def agents(script: list[Data], server: Data, **tool: Any) -> Data:
    return {
        "model_profiles": {"fake": {"provider": "scripted", "script": script}},
        "tools": {"ask": {"description": "Asks.", "mcp": {"server": "s", "tool": "ask"}, **tool}},
        "personas": {"helper": {"instructions": "Help.", "model_profile": "fake", "tools": ["ask"]}},
        "agents": {"bob": {"persona": "helper", "description": "Knows names."}},
        "project": {"settings": {"mcp": {"s": server}, "mcp_server": {"expose": ["bob"], "wait_ms": 20_000}}},
    }


SCRIPT: list[Data] = [
    {"tool_calls": [{"name": "ask", "input": {}}]},
    {"when": "size(tool_results) > 0", "text": "The tool has answered."},
]


async def test_what_a_tool_asks_in_a_conversation_is_a_gate(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(agents(SCRIPT, {"command": program()}))
        conversation = await engine.converse("bob")
        await conversation.send("Who is it?")
        async with asyncio.timeout(30):
            while not (gates := await conversation.gates()):
                await asyncio.sleep(0.05)
        assert gates[0].title == "MCP server 's', tool 'ask' asks: Name number 1?"
    async with jeton.open(tmp_path / "store.db") as engine:  # another process has the answer
        conversation = await engine.converse("bob", conversation=conversation.id)
        await conversation.answer({"name": "Ada"})
        async with asyncio.timeout(30):
            while (view := (await conversation.turns())[0]).status == "active":
                await asyncio.sleep(0.05)
    assert (view.status, view.replies) == ("completed", ["The tool has answered."])
    assert view.moves[0].tool_calls[0].result == {"text": "hello Ada"}


async def test_an_exposed_agent_is_a_tool(tmp_path: Path) -> None:
    file = tmp_path / "library.yaml"
    file.write_text(yaml.safe_dump(agents(SCRIPT, {"command": program()})))

    async def name(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async with Client(process(tmp_path, "--file", "library.yaml"), elicitation_callback=name) as server:
        (tool,) = [tool for tool in (await server.list_tools()).tools if tool.name == "bob"]
        assert (tool.description, list(tool.input_schema["properties"])) == (
            "Knows names.",
            ["message", "conversation_id"],
        )
        said = await server.call_tool("bob", {"message": "Who is it?"})
        assert not said.is_error, text(said)
        assert said.structured_content["text"] == "The tool has answered."
        assert said.structured_content["conversation_id"]
        empty = await server.call_tool("bob", {})
        assert (empty.is_error, "input_invalid" in text(empty)) == (True, True)
        elsewhere = await server.call_tool("bob", {"message": "hi", "conversation_id": "nothing"})
        assert elsewhere.is_error
