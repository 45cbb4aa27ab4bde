"""Pinned tools of MCP servers, and pinning them again."""

from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from jeton.actor.host import Host
from jeton.executor import Resources, ThreadPool
from jeton.executor.clock import LoopClock
from jeton.executor.mcp.errors import Refusal, TimedOut, Unavailable
from jeton.executor.mcp.pinning import described
from jeton.executor.mcp.pins import Pin
from jeton.executor.mcp.settings import ServerInvalid
from jeton.executor.secrets import SecretUnavailable
from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject, Schema
from jeton.model.times import moment

_described = msgspec.json.Decoder(dict[str, Any]).decode


class PinView(msgspec.Struct, frozen=True):
    """A pinned tool: what it said of itself, and when. `changed`: it said something else before it was pinned again."""

    server: str
    tool: str
    hash: str
    at: datetime
    description: str | None
    input_schema: Schema
    changed: bool = False


async def mcp_pins(host: Host, server: str | None) -> tuple[PinView, ...]:
    """The pinned tools."""
    return tuple(_view(pin) for pin in await host.pins.list(server))


async def pin_again(
    host: Host, server: str, tool: str | None, settings: JsonObject | None, folder: Path
) -> tuple[PinView, ...]:
    """Pin one tool as it is now, or all of the server that are pinned; if none is, all that the server has."""
    used = settings if settings is not None else await _deployed_settings(host, server)
    before = {pin.tool: pin for pin in await host.pins.list(server)}
    now = {pin.tool: pin for pin in await _tools(server, used, folder)}
    wanted = [tool] if tool is not None else [name for name in now if name in before or not before]
    missing = [name for name in wanted if name not in now]
    if missing:
        problem = f"MCP server '{server}' has no tool '{missing[0]}'"
        raise Refused("unknown_tool", problem, f"it has: {', '.join(sorted(now)) or 'none'}")
    found: list[PinView] = []
    for name in wanted:
        held = await host.pins.put(now[name], again=True)
        changed = name in before and before[name].hash != held.hash
        found.append(_view(held, changed=changed))
    return tuple(found)


async def _tools(server: str, settings: JsonObject, folder: Path) -> list[Pin]:
    resources = Resources(LoopClock(), ThreadPool(1))
    try:
        return await described(server, settings, folder, resources)
    except TimedOut:
        problem = "it does not answer in time"
        raise Refused("server_unavailable", f"MCP server '{server}': {problem}", "see whether it runs") from None
    except (Unavailable, Refusal, ServerInvalid, SecretUnavailable, ImportError, OSError) as error:
        said = resources.secrets.of(settings).text(str(error))  # it may have said what it should keep to itself
        raise Refused("server_unavailable", f"MCP server '{server}': {said}", "see whether it runs") from None
    finally:
        await resources.servers.close()
        resources.threads.close()


async def _deployed_settings(host: Host, server: str) -> JsonObject:
    """The settings that name the server, in what was deployed."""
    for name in await host.reads.deployed():
        found = await host.reads.bundle(name)
        servers: Json = None if found is None else found[0].settings.get("mcp")
        if found is not None and isinstance(servers, dict) and server in servers:
            return found[0].settings
    problem = f"nothing that was deployed names an MCP server '{server}'"
    raise Refused("unknown_server", problem, "name the file that does: --file library.yaml")


def _view(pin: Pin, *, changed: bool = False) -> PinView:
    said = _described(pin.described)
    when = moment(pin.at)
    return PinView(pin.server, pin.tool, pin.hash, when, said["description"], said["input_schema"], changed)
