"""Pins of the tools that a project uses, made when it is deployed, if their servers can be reached.

A tool that has a pin is left alone, so that a second deployment starts no server.
"""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jeton.executor.action import Resources
from jeton.executor.mcp.errors import Refusal, TimedOut, Unavailable
from jeton.executor.mcp.pins import Pin, pin_of
from jeton.executor.mcp.settings import ServerInvalid, server_named
from jeton.executor.secrets import ProjectSecrets, SecretUnavailable
from jeton.model.definition.agent import McpTool
from jeton.model.definition.task import Action
from jeton.model.definition.workflow import Library, TaskTarget
from jeton.model.json import JsonObject

if TYPE_CHECKING:
    from jeton.executor.mcp.client import DescribedTool

REACHED_WITHIN_S = 10.0

_log = logging.getLogger("jeton.mcp")


def used_tools(library: Library) -> dict[str, set[str]]:
    """The tools of MCP servers that definitions use, by server."""
    found: dict[str, set[str]] = {}
    for action in _actions(library):
        server, tool = action.implementation.get("server"), action.implementation.get("tool")
        if action.kind == "mcp" and isinstance(server, str) and isinstance(tool, str):
            found.setdefault(server, set()).add(tool)
    for each in library.tools.values():
        if isinstance(each.target, McpTool):
            found.setdefault(each.target.server, set()).add(each.target.tool)
    return found


def _actions(library: Library) -> Iterator[Action]:
    yield from library.actions.values()
    tasks = list(library.tasks.values())
    for workflow in library.workflows.values():
        for node in workflow.nodes.values():
            if isinstance(node.target, TaskTarget) and not isinstance(node.target.task, str):
                tasks.append(node.target.task)
    for flow in library.flows.values():
        yield from (Action(node.type, node.data) for node in flow.nodes.values() if node.type == "mcp")
    for task in tasks:
        yield from (step.action for step in task.steps if isinstance(step.action, Action))


async def pin_used(library: Library, resources: Resources) -> None:
    """Pin the tools that have no pin yet. What cannot be reached now is pinned when it is first called."""
    used = used_tools(library)
    if not used:
        return
    known = {(pin.server, pin.tool) for pin in await resources.pins.list()}
    missing = {server: new for server, tools in used.items() if (new := {t for t in tools if (server, t) not in known})}
    await asyncio.gather(*(_pin(server, tools, library, resources) for server, tools in missing.items()))


async def _pin(server: str, tools: set[str], library: Library, resources: Resources) -> None:
    try:
        async with asyncio.timeout(REACHED_WITHIN_S):
            for pin in await described(server, library.settings, resources.folder, resources):
                if pin.tool in tools:
                    await resources.pins.put(pin)
    except TimeoutError:
        _log.warning("MCP server '%s' was not reached in time: its tools are pinned at their first calls", server)
    except (Unavailable, TimedOut, Refusal, ServerInvalid, SecretUnavailable, ImportError, OSError) as problem:
        _log.warning("MCP server '%s' was not reached: its tools are pinned at their first calls: %s", server, problem)


async def described(server: str, settings: JsonObject, folder: Path, resources: Resources) -> list[Pin]:
    """All tools of a server as it describes them now. Raises what connecting and asking raises."""
    found = server_named(server, settings)
    secrets = resources.secrets.of(settings)

    async def secret(name: str) -> str:
        return await secrets.get(name, resources.clock, resources.threads)

    connection = await resources.servers.connect(server, found, folder, resources.threads, secret)
    now = resources.wall_clock()
    tools = await connection.tools(found.timeout_ms / 1000)
    return [pin_of(server, *redacted(tool, secrets), now) for tool in tools]


def redacted(tool: "DescribedTool", secrets: ProjectSecrets) -> tuple[str, str | None, JsonObject]:
    """The name, description and input schema of a tool, without the secrets that its server may repeat in them."""
    said = None if tool.description is None else secrets.text(tool.description)
    schema = secrets.value(tool.input_schema)
    return tool.name, said, schema if isinstance(schema, dict) else {}
