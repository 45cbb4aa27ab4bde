"""MCP servers as the project's settings describe them. `jeton check` has reported what is wrong with them."""

from typing import TypeAlias

import msgspec

from jeton.executor.secrets import SecretRef
from jeton.model.json import JsonObject

DEFAULT_TIMEOUT_MS = 60_000


class ServerInvalid(Exception):
    """The project has no such server, or its settings cannot be used."""


class ClientCredentials(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """OAuth client credentials. The address of the tokens is fixed: a server cannot send them elsewhere."""

    token_url: str
    client_id: str | SecretRef
    client_secret: SecretRef
    scope: str | None = None


class StdioServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program that speaks MCP on its standard streams."""

    command: tuple[str, ...]
    env: dict[str, str | SecretRef] = msgspec.field(default_factory=dict[str, str | SecretRef])
    cwd: str | None = None  # relative to the store's folder, which it is if left out
    trusted: bool = False
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    expose: tuple[str, ...] | None = None  # the tools that may be called; None: all


class HttpServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A server elsewhere, by streamable HTTP."""

    url: str
    headers: dict[str, str | SecretRef] = msgspec.field(default_factory=dict[str, str | SecretRef])
    auth: ClientCredentials | None = None
    trusted: bool = False
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    expose: tuple[str, ...] | None = None


ServerSettings: TypeAlias = StdioServer | HttpServer


def server_named(name: str, settings: JsonObject) -> ServerSettings:
    """The settings of a server. Raises ServerInvalid."""
    servers = settings.get("mcp")
    written = servers.get(name) if isinstance(servers, dict) else None
    if not isinstance(written, dict):
        raise ServerInvalid(f"the project has no MCP server '{name}' in its settings")
    found: ServerSettings
    try:
        if "command" in written:
            found = msgspec.convert(written, StdioServer)
        else:
            found = msgspec.convert(written, HttpServer)
    except msgspec.ValidationError as error:
        raise ServerInvalid(f"the settings of the MCP server '{name}': {error}") from None
    if isinstance(found, StdioServer) and (not found.command or not found.command[0]):
        raise ServerInvalid(f"the MCP server '{name}' has no program")
    return found
