"""The transports of the MCP server: standard streams, or HTTP on one address. Imports the SDK.

By HTTP every request needs the token, on this machine too: any page in a browser can reach a local port. The SDK checks
host and origin.
"""

import hmac
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"


class RequireToken:
    """Lets nobody through without the token, on any path. Default deny: it stands before all routes."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        given = Request(scope).headers.get("authorization", "").encode() if scope["type"] == "http" else b""
        if not hmac.compare_digest(given, self._expected):
            headers = {"www-authenticate": "Bearer"}
            await PlainTextResponse("a token is needed", status_code=401, headers=headers)(scope, receive, send)
            return
        await self._app(scope, receive, send)


async def serve_streams(server: Server[Any]) -> None:
    """Serve one client on the standard streams, until it closes them. What else is printed goes to stderr."""
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def serve_http(server: Server[Any], host: str, port: int, token: str) -> None:
    """Serve clients by HTTP until the process is asked to stop."""
    app = RequireToken(server.streamable_http_app(streamable_http_path=PATH, host=host), token)
    await uvicorn.Server(uvicorn.Config(app, host=host, port=port, log_level="warning", ws="none")).serve()
