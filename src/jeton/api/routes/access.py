"""Keys, saved queries, and who is asking."""

import secrets

import msgspec

from jeton.actor.access.keys import SCOPES, ApiKey, SavedQuery, hash_of, make_key, scopes_in
from jeton.api.door.callers import cookie_in, set_cookie
from jeton.api.route import Answer, Call, Nothing, Route, route
from jeton.api.times import milliseconds_in
from jeton.api.views import Keys, Me, NewKeyView, Queries, QueryView, key_view, new_key_view
from jeton.engine.browse.query import read_query
from jeton.engine.views.plain import plain
from jeton.model.failure import Refused

MAX_NAME = 200


class KeyBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    scopes: list[str]
    person: str | None = None
    expires_at: str | None = None


class QueryBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    q: str


async def me(call: Call[Nothing, Nothing]) -> Answer:
    """Whose key it is, and what it may do."""
    return Answer(plain(Me(call.caller.name, call.caller.person, call.caller.scopes)))


async def end_session(call: Call[Nothing, Nothing]) -> Answer:
    """End the session of the cookie that was sent, and remove the cookie."""
    cookie = cookie_in(call.headers.get("cookie"))
    if cookie is not None:
        await call.server.callers.end_session(cookie)
    return Answer(status=204, headers={"set-cookie": set_cookie("", 0, "http")})


async def list_keys(call: Call[Nothing, Nothing]) -> Answer:
    """All keys, without the keys."""
    callers, keys = call.server.callers, await call.engine.access.keys()
    return Answer(plain(Keys(tuple(key_view(key, callers.last_used(key)) for key in keys))))


async def add_key(call: Call[Nothing, KeyBody]) -> Answer:
    """Make a key. It is shown this once."""
    expires = None if call.body.expires_at is None else milliseconds_in(call.body.expires_at)
    text, key = new_key(call.body.name, call.body.scopes, call.body.person, expires, call.server.wall())
    await call.engine.access.add_key(key)
    await call.server.callers.refresh()
    return Answer(plain(new_key_view(key, text)), 201)


def new_key(
    name: str, scopes: list[str] | tuple[str, ...], person: str | None, expires_at: int | None, now: int
) -> tuple[str, ApiKey]:
    """A new key: its text, and what is stored of it. Raises Refused for scopes that there are not."""
    known = scopes_in(scopes)
    if known is None:
        raise Refused("bad_argument", "scopes: one of them is none", f"there are: {', '.join(SCOPES)}")
    if not name.strip() or len(name) > MAX_NAME:
        raise Refused("bad_argument", f"name: must be 1 to {MAX_NAME} characters", "name who uses the key")
    if expires_at is not None and expires_at <= now:
        raise Refused("bad_argument", "expires_at: is in the past", "name a time to come")
    text, key_id = make_key(secrets.choice)
    return text, ApiKey(key_id, hash_of(text), name, known, person, now, expires_at)


async def revoke_key(call: Call[Nothing, Nothing]) -> Answer:
    """Revoke a key, and end its sessions and streams."""
    if await call.engine.access.revoke_key(call.path["key"], call.server.wall()) is None:
        raise Refused("unknown_key", "there is no key of this id", "list the keys there are")
    await call.server.callers.refresh()
    return Answer(status=204)


async def list_queries(call: Call[Nothing, Nothing]) -> Answer:
    """Queries that people saved for all."""
    found = await call.engine.access.queries()
    return Answer(plain(Queries(tuple(QueryView(query.name, query.q) for query in found))))


async def save_query(call: Call[Nothing, QueryBody]) -> Answer:
    """Save a query for all, under a name."""
    read_query(call.body.q)  # refuses what nobody could use
    if len(call.path["name"]) > MAX_NAME:
        raise Refused("bad_argument", f"name: is longer than {MAX_NAME} characters", "choose a shorter one")
    query = SavedQuery(call.path["name"], call.body.q, call.server.wall())
    await call.engine.access.save_query(query)
    return Answer(plain(QueryView(query.name, query.q)))


async def remove_query(call: Call[Nothing, Nothing]) -> Answer:
    """Remove a saved query."""
    if not await call.engine.access.remove_query(call.path["name"]):
        raise Refused("unknown_query", "there is no saved query of this name", "list the queries there are")
    return Answer(status=204)


ROUTES: tuple[Route, ...] = (
    route("GET", "/me", "", me, {200: Me}, query=Nothing, body=Nothing),
    route("DELETE", "/session", "", end_session, {204: None}, query=Nothing, body=Nothing),
    route("GET", "/keys", "admin", list_keys, {200: Keys}, query=Nothing, body=Nothing),
    route("POST", "/keys", "admin", add_key, {201: NewKeyView}, query=Nothing, body=KeyBody),
    route("DELETE", "/keys/{key}", "admin", revoke_key, {204: None}, query=Nothing, body=Nothing, codes="unknown_key"),
    route("GET", "/queries", "read", list_queries, {200: Queries}, query=Nothing, body=Nothing),
    route(
        "PUT", "/queries/{name}", "run", save_query, {200: QueryView}, query=Nothing, body=QueryBody, codes="bad_query"
    ),
    route(
        "DELETE", "/queries/{name}", "run", remove_query, {204: None}, query=Nothing, body=Nothing,
        codes="unknown_query",
    ),
)  # fmt: skip
