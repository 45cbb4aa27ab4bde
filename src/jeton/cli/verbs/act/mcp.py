"""`jeton mcp`: be an MCP server, and look after pinned tools of others."""

import asyncio
import os
import secrets
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from jeton.cli.app import load_app
from jeton.cli.library import load_file
from jeton.cli.options import app_option, json_option, store_option
from jeton.cli.output import echo, echo_json, echo_table, local_time, plain_list, printable, reporting_errors
from jeton.cli.store import ask, connected, is_url, local_only, must_exist
from jeton.engine.build.source import declared_in
from jeton.engine.mcp.exposed import exposed_in, exposed_names, wait_ms_of
from jeton.engine.mcp.pins import PinView
from jeton.engine.opening import open
from jeton.model.failure import Refused
from jeton.model.json import JsonObject

if TYPE_CHECKING:
    from types import ModuleType

    from jeton.api.client import RemoteEngine
    from jeton.engine.engine import Engine
    from jeton.engine.mcp.server import EngineServer

TOKEN = "JETON_MCP_TOKEN"
VERSION = "1"
USAGE = "write `jeton mcp`, `jeton mcp pins [SERVER]`, or `jeton mcp pin SERVER [TOOL]`"


@click.command("mcp")
@click.argument("words", nargs=-1, metavar="[pins [SERVER] | pin SERVER [TOOL]]")
@click.option("--file", type=click.Path(), metavar="FILE", help="Deploy this file first, and use its settings.")
@click.option("--expose", multiple=True, metavar="NAME", help="A workflow, flow or agent to serve; may be repeated.")
@click.option("--http", "by_http", is_flag=True, help=f"Serve by HTTP; clients need the token in ${TOKEN}.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8765, show_default=True, help="With --http: the port.")
@app_option
@store_option
@json_option
def command(
    words: tuple[str, ...],
    file: str | None,
    expose: tuple[str, ...],
    by_http: bool,
    host: str,
    port: int,
    app: str | None,
    store: str,
    as_json: bool,
) -> None:
    """Serve workflows, flows and agents as tools of an MCP server, on the standard streams or by HTTP.

    What is served is named in `project.settings.mcp_server.expose`, and with --expose. `jeton mcp pins` lists the tools
    of other servers as they were pinned; `jeton mcp pin SERVER [TOOL]` accepts them as they are now.
    """
    with reporting_errors(as_json):
        if words:
            local_only(store, f"mcp {words[0]}")
        match words:
            case ():
                asyncio.run(_serve(store, file, app, expose, by_http, host, port, as_json))
            case ("pins",) | ("pins", _):
                server = words[1] if len(words) > 1 else None
                _list(ask(store, lambda engine: engine.mcp_pins(server)), as_json)
            case ("pin", server) | ("pin", server, _):
                asyncio.run(_pin(store, file, app, server, words[2] if len(words) > 2 else None, as_json))
            case _:
                raise click.UsageError(USAGE)


# pins


async def _pin(store: str, file: str | None, app: str | None, server: str, tool: str | None, as_json: bool) -> None:
    settings = None if file is None else load_file(file, app=app).require().settings
    must_exist(store)
    async with open(store, owner=False) as engine:
        pinned = await engine.pin_mcp(server, tool, settings=settings, folder=str(Path(store).absolute().parent))
    _list(pinned, as_json)


def _list(pins: tuple[PinView, ...], as_json: bool) -> None:
    if as_json:
        echo_json({"pins": plain_list(pins)})
        return
    rows = [
        (pin.server, pin.tool, pin.hash[:12], local_time(pin.at), "changed" if pin.changed else "", pin.description)
        for pin in pins
    ]
    titles = ("SERVER", "TOOL", "HASH", "PINNED", "", "DESCRIPTION")
    echo_table(titles, [tuple(map(_cell, row)) for row in rows], "no tool is pinned")


def _cell(value: object) -> str:
    return printable(str(value or ""))


# the server


async def _serve(
    store: str,
    file: str | None,
    app: str | None,
    expose: tuple[str, ...],
    by_http: bool,
    host: str,
    port: int,
    as_json: bool,
) -> None:
    server_of, serving = await asyncio.to_thread(_sdk)
    async with _at_server(store, file) if is_url(store) else _at_store(store, file, app) as (engine, settings):
        names = list(dict.fromkeys((*expose, *exposed_names(settings))))
        if not names:
            remedy = "name it with --expose NAME, or in 'project: {settings: {mcp_server: {expose: […]}}}'"
            raise Refused("bad_argument", "nothing is exposed", remedy)
        server = server_of(await exposed_in(engine, names), wait_ms_of(settings)).server(VERSION)
        if by_http:
            token = _token(f"http://{host}:{port}{serving.PATH}", names, as_json)
            await serving.serve_http(server, host, port, token)
        else:
            await serving.serve_streams(server)


@asynccontextmanager
async def _at_store(store: str, file: str | None, app: str | None) -> "AsyncGenerator[tuple[Engine, list[JsonObject]]]":
    """Open a store, deploy the file if there is one, and give the settings that say what is exposed."""
    loaded = None if file is None else load_file(file, app=app).require()
    if file is None:
        load_app(app)
        must_exist(store)
    async with open(store) as engine:
        if loaded is not None:
            await engine.deploy_library(loaded, declared_in(file or ""))
        yield engine, [loaded.settings] if loaded is not None else await _deployed_settings(engine)


@asynccontextmanager
async def _at_server(url: str, file: str | None) -> "AsyncGenerator[tuple[Engine, list[JsonObject]]]":
    """Connect to a server, and deploy the file there if there is one."""
    from jeton.cli.remote import deploy_at  # the client is loaded for a server only

    async with AsyncExitStack() as stack:
        engine = await connected(url, stack)
        if file is not None:
            await deploy_at(cast("RemoteEngine", engine), file)
        yield engine, await _deployed_settings(engine)


def _token(url: str, names: list[str], as_json: bool) -> str:
    """The token that clients need: the one that was set, or a new one, which is printed."""
    known = os.environ.get(TOKEN)
    token = known or secrets.token_urlsafe(32)
    if as_json:
        echo_json({"url": url, "exposed": names, **({} if known else {"token": token})})
        return token
    echo(f"serving {', '.join(names)} at {url}", err=True)
    if not known:
        echo(f"clients need the token {token}; set {TOKEN} to choose one", err=True)
    return token


async def _deployed_settings(engine: "Engine") -> list[JsonObject]:
    return [(await engine.workflow(name)).settings for name in await engine.deployed()]


def _sdk() -> "tuple[type[EngineServer], ModuleType]":
    """What needs the SDK, which is slow to import."""
    try:
        return import_module("jeton.engine.mcp.server").EngineServer, import_module("jeton.engine.mcp.serving")
    except ImportError as error:
        problem = f"the package for MCP is not installed: {error}"
        raise Refused("needs_package", problem, "pip install 'jeton[mcp]'") from None
