"""`jeton keys`: who may use a server."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import click
import msgspec

from jeton.actor.access.keys import SCOPES
from jeton.api.routes.access import new_key
from jeton.api.views import Keys, KeyView, NewKeyView, key_view, new_key_view
from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, echo_table, local_time, printable, reporting_errors
from jeton.cli.store import is_url, must_exist
from jeton.engine.engine import Engine
from jeton.engine.opening import open
from jeton.engine.views.plain import plain
from jeton.model.failure import Refused
from jeton.model.times import rfc3339

if TYPE_CHECKING:
    from jeton.api.client import RemoteEngine

DAY_MS = 24 * 60 * 60 * 1000

_Value = TypeVar("_Value")


@click.group("keys")
def command() -> None:
    """Make, list and revoke the keys of a server. A server that runs follows within a second."""


@command.command("add")
@click.argument("name")
@click.option("--scope", "scopes", required=True, metavar="S,…", help=f"What it may do: {', '.join(SCOPES)}.")
@click.option("--person", metavar="P", help="It answers gates as this person, and as nobody else.")
@click.option("--expires", "days", type=click.FloatRange(min=0, min_open=True), metavar="DAYS", help="Days it lasts.")
@store_option
@json_option
def add(name: str, scopes: str, person: str | None, days: float | None, store: str, as_json: bool) -> None:
    """Make a key, and print it this once."""
    now = int(time.time() * 1000)
    expires = None if days is None else now + int(days * DAY_MS)
    with reporting_errors(as_json):
        wanted = [each.strip() for each in scopes.split(",")]
        made = (_add_there if is_url(store) else _add)(store, name, wanted, person, expires, now)
        if as_json:
            echo_json(plain(made))
        else:
            echo(made.key)


def _add(store: str, name: str, scopes: list[str], person: str | None, expires: int | None, now: int) -> NewKeyView:
    text, key = new_key(name, scopes, person, expires, now)
    _with(store, lambda engine: engine.access.add_key(key), create=True)
    return new_key_view(key, text)


def _add_there(url: str, name: str, scopes: list[str], person: str | None, expires: int | None, now: int) -> NewKeyView:
    from jeton.cli.remote import at_server  # the client is loaded for a server only

    until = None if expires is None else rfc3339(expires)
    body = {"name": name, "scopes": scopes, "person": person, "expires_at": until}
    return at_server(url, lambda engine: engine.connection.post("/keys", NewKeyView, body))


@command.command("ls")
@store_option
@json_option
def ls(store: str, as_json: bool) -> None:
    """List the keys, without the keys."""
    with reporting_errors(as_json):
        views = _keys_there(store) if is_url(store) else _keys(store)
        if as_json:
            echo_json(plain(Keys(views)))
            return
        rows = [
            (
                view.id,
                printable(view.name),
                ",".join(view.scopes),
                printable(view.person or ""),
                "" if view.expires_at is None else local_time(view.expires_at),
                "" if view.revoked_at is None else local_time(view.revoked_at),
            )
            for view in views
        ]
        echo_table(("ID", "NAME", "SCOPES", "PERSON", "EXPIRES", "REVOKED"), rows, "no keys")


def _keys(store: str) -> tuple[KeyView, ...]:
    must_exist(store)
    return tuple(key_view(key) for key in _with(store, lambda engine: engine.access.keys()))


def _keys_there(url: str) -> tuple[KeyView, ...]:
    from jeton.cli.remote import at_server  # the client is loaded for a server only

    return at_server(url, lambda engine: engine.connection.get("/keys", Keys)).keys


@command.command("revoke")
@click.argument("key_id", metavar="ID")
@store_option
@json_option
def revoke(key_id: str, store: str, as_json: bool) -> None:
    """Revoke a key: its sessions and streams end too."""
    with reporting_errors(as_json):
        found = (_revoke_there if is_url(store) else _revoke)(store, key_id)
        if found is None:
            raise Refused("unknown_key", f"there is no key '{key_id}'", "list them with `jeton keys ls`")
        if as_json:
            echo_json(plain(found))
        else:
            echo(f"revoked {found.id} ({printable(found.name)})")


def _revoke(store: str, key_id: str) -> KeyView | None:
    must_exist(store)
    found = _with(store, lambda engine: engine.access.revoke_key(key_id, int(time.time() * 1000)))
    return None if found is None else key_view(found)


def _revoke_there(url: str, key_id: str) -> KeyView | None:
    """Revoke a key at a server. It is looked up first, since it may be the very key that we ask with."""
    from jeton.api.client.connection import part  # the client is loaded for a server only
    from jeton.cli.remote import at_server

    async def revoke(engine: "RemoteEngine") -> KeyView | None:
        keys = (await engine.connection.get("/keys", Keys)).keys
        await engine.connection.delete(f"/keys/{part(key_id)}")
        found = next((key for key in keys if key.id == key_id), None)
        if found is None or found.revoked_at is not None:
            return found
        return msgspec.structs.replace(found, revoked_at=datetime.now(UTC))

    return at_server(url, revoke)


def _with(store: str, act: Callable[[Engine], Awaitable[_Value]], *, create: bool = False) -> _Value:
    """Do something beside the owner of the store; a store that is not there yet is made."""

    async def done() -> _Value:
        if create:
            try:
                async with open(store, work=False) as engine:
                    return await act(engine)
            except Refused as refused:
                if refused.code != "store_owned":
                    raise
        async with open(store, owner=False) as engine:
            return await act(engine)

    return asyncio.run(done())
