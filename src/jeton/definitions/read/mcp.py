"""`project.settings.mcp`: MCP servers by name. `mcp_server`: what this project exposes as one.

Nothing is started or connected to here: a server is a program, or an address, that the project's author chose.
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from jeton.definitions.read.fields import Fields, check_name, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, kind, shown
from jeton.model.json import Json

STDIO_KEYS: Final = ("command", "env", "cwd")
HTTP_KEYS: Final = ("url", "headers", "auth")
SERVER_KEYS: Final = (*STDIO_KEYS, *HTTP_KEYS, "trusted", "timeout_ms", "expose")
AUTH_KEYS: Final = ("token_url", "client_id", "client_secret", "scope")
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def check_mcp(value: Json, location: SourceLocation, report: Report) -> None:
    """Check the servers."""
    for name, fields in _each(value, location, report, "'mcp'"):
        if not check_name(name, location / name, report):
            continue
        server = fields_of(fields.value(name), location / name, report, SERVER_KEYS, "an MCP server")
        if server is not None:
            _check_server(server, location / name)


def check_mcp_server(value: Json, location: SourceLocation, report: Report) -> None:
    """Check what the project exposes. Whether the names exist is checked with all definitions."""
    server = fields_of(value, location, report, ("expose", "wait_ms"), "'mcp_server'")
    if server is not None:
        server.texts("expose")
        server.integer("wait_ms", at_least=0)


def _check_server(server: Fields, location: SourceLocation) -> None:
    report = server.report
    if ("command" in server) == ("url" in server):
        both = "has both 'command' and 'url'" if "url" in server else "has neither 'command' nor 'url'"
        remedy = "write 'command: [program, argument, …]' for a program, or 'url: https://…' for a server elsewhere"
        report.error(location, "bad_server", f"{both}, and needs one", remedy)
    for key in HTTP_KEYS if "command" in server else STDIO_KEYS:
        if key in server and key not in ("command", "url"):
            problem = f"'{key}' is for a server with {'a url' if key in HTTP_KEYS else 'a command'}"
            report.error(location / key, "bad_server", problem, "remove it")
    _check_command(server, location)
    _check_url(server, "url", location)
    _check_values(server, "env", VARIABLE, "the name of a variable", location)
    _check_values(server, "headers", HEADER, "the name of a header", location)
    server.text("cwd")
    server.flag("trusted", default=False)
    server.integer("timeout_ms", at_least=1)
    server.texts("expose")
    auth = server.inner("auth", AUTH_KEYS, "'auth'")
    if auth is not None:
        auth.require("token_url", "client_id", "client_secret")
        _check_url(auth, "token_url", location / "auth")
        auth.text("scope")
        for key in ("client_id", "client_secret"):
            if key in auth and (key == "client_secret" or not isinstance(auth.value(key), str)):
                _check_secret(auth.value(key), location / "auth" / key, report)


def _check_command(server: Fields, location: SourceLocation) -> None:
    if "command" not in server:
        return
    words = server.texts("command")
    if server.list("command") is not None and (not words or not words[0]):
        server.report.error(location / "command", "bad_server", "names no program", "write [program, argument, …]")


def _check_url(fields: Fields, key: str, location: SourceLocation) -> None:
    url = fields.text(key)
    if url is None:
        return
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        fields.report.error(location / key, "bad_server", f"{shown(url)} is not a url", "write 'https://…'")
        return
    if not known:
        fields.report.error(location / key, "bad_server", f"{shown(url)} is not a web address", "write 'https://…'")
    if parts.username or parts.password:
        problem = "has a name or a password in it, and a secret has no place in a definition"
        fields.report.error(location / key, "secret_in_definition", problem, "write 'headers' with {secret: NAME}")


def _check_values(server: Fields, key: str, names: re.Pattern[str], what: str, location: SourceLocation) -> None:
    """Values that are texts or secrets, by name."""
    if key not in server:
        return
    for name, values in _each(server.value(key), location / key, server.report, f"'{key}'"):
        at, value = location / key / name, values.value(name)
        if not names.fullmatch(name):
            server.report.error(at, "bad_name", f"{shown(name)} cannot be {what}", "use letters, digits and '_'")
        if isinstance(value, str):
            if "\n" in value or "\r" in value:
                server.report.error(at, "text_refused", "has a line break", "remove it")
        else:
            _check_secret(value, at, server.report)


def _check_secret(value: Json, location: SourceLocation, report: Report) -> None:
    match value:
        case {"secret": str(), **rest} if not rest:
            pass
        case str():
            problem = "is a text, and a secret has no place in a definition"
            report.error(location, "secret_in_definition", problem, "write {secret: NAME}")
        case _:
            problem = f"is {kind(value)}, but must be a text or a secret"
            report.error(location, "wrong_type", problem, "write a text, or {secret: NAME}")


def _each(value: Json, location: SourceLocation, report: Report, what: str) -> Iterator[tuple[str, Fields]]:
    fields = fields_of(value, location, report, value if isinstance(value, dict) else (), what)
    if fields is not None and isinstance(value, dict):
        yield from ((name, fields) for name in value)
