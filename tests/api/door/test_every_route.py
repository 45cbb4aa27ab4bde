"""Nobody gets past the door: every route there is, and every way of not having the key to it."""

import asyncio
import secrets
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from jeton.actor.access.keys import LETTERS, SCOPES, Scope, make_key
from jeton.api.route import Route
from jeton.api.routes.table import ROUTES
from tests.api.server import HUGE, Running, add_key, serving_in_thread

PAST = 1_000


class Keys(NamedTuple):
    """The keys of the store."""

    admin: str
    revoked: str
    expired: str
    by_scopes: dict[tuple[Scope, ...], str]


class Case(NamedTuple):
    server: Running
    keys: Keys


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Generator[Case, None, None]:
    store = tmp_path_factory.mktemp("door") / "store.db"
    keys = asyncio.run(_keys(store))
    with serving_in_thread(store) as server:
        assert server.key is None  # the store has keys of its own
        yield Case(server, keys)


async def _keys(store: Path) -> Keys:
    by_scopes: dict[tuple[Scope, ...], str] = {}
    for needed in {route.scopes for route in ROUTES if route.scopes}:
        others: list[Scope] = [scope for scope in SCOPES if scope not in needed and scope != "admin"]
        by_scopes[needed] = await add_key(store, *others)
    return Keys(
        await add_key(store, "admin"),
        await add_key(store, "admin", revoked_at=PAST),
        await add_key(store, "admin", expires_at=PAST),
        by_scopes,
    )


def path_of(route: Route) -> str:
    """A path of the route, with something in each named part."""
    return "/".join("x1" if part.startswith("{") else part for part in route.path.split("/"))


def made_up() -> str:
    return make_key(secrets.choice)[0]


def of_id(key_id: str) -> str:
    """A key nobody made, with the id of another and a checksum that fits."""
    letters = iter(key_id)
    return make_key(lambda choices: next(letters, secrets.choice(choices)))[0]


def mistyped(key: str) -> str:
    """The key with another last character, which its checksum does not fit."""
    return key[:-1] + LETTERS[(LETTERS.index(key[-1]) + 1) % len(LETTERS)]


def bearer(key: str) -> list[tuple[str, str]]:
    return [("Authorization", f"Bearer {key}")]


Headers = Sequence[tuple[str, str]]
STRANGERS: dict[str, tuple[str, Callable[[Keys], Headers]]] = {
    "no key": ("key_missing", lambda keys: []),
    "an empty header": ("key_missing", lambda keys: [("Authorization", "")]),
    "an empty key": ("key_missing", lambda keys: [("Authorization", "Bearer ")]),
    "a null key": ("key_refused", lambda keys: bearer("null")),
    "another scheme": ("key_missing", lambda keys: [("Authorization", f"Basic {keys.admin}")]),
    "no scheme": ("key_missing", lambda keys: [("Authorization", keys.admin)]),
    "two keys": ("key_refused", lambda keys: [*bearer(keys.admin), *bearer(keys.admin)]),
    "two words": ("key_refused", lambda keys: bearer(f"{keys.admin} x")),
    "a key nobody made": ("key_refused", lambda keys: bearer(made_up())),
    "a key that was cut": ("key_refused", lambda keys: bearer(keys.admin[:-1])),
    "a key that was mistyped": ("key_refused", lambda keys: bearer(mistyped(keys.admin))),
    "the id of one key, the rest of another": (
        "key_refused",
        lambda keys: bearer(of_id(keys.admin[4:12])),
    ),
    "a revoked key": ("key_refused", lambda keys: bearer(keys.revoked)),
    "an expired key": ("key_refused", lambda keys: bearer(keys.expired)),
    "a made up session": ("key_refused", lambda keys: [("Cookie", "jeton_session=made-up")]),
    "a key as a cookie": ("key_refused", lambda keys: [("Cookie", f"jeton_session={keys.admin}")]),
    "a key in other headers": (
        "key_missing",
        lambda keys: [("X-Api-Key", keys.admin), ("Cookie", f"key={keys.admin}")],
    ),
}


@pytest.mark.parametrize("stranger", STRANGERS)
async def test_a_stranger_is_refused_before_the_body_is_read(case: Case, stranger: str) -> None:
    """A body of 900 MB is announced and never sent: whoever waited for a byte of it would wait for ever."""
    code, headers = STRANGERS[stranger]
    for route in ROUTES:
        reply = await case.server.ask(route.method, path_of(route), headers=headers(case.keys), announce=HUGE)
        assert (route.name, reply.status, reply.code) == (route.name, 401, code)
        assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("stranger", STRANGERS)
async def test_a_stranger_gets_no_socket(case: Case, stranger: str) -> None:
    code, headers = STRANGERS[stranger]
    for path in ("/v1/stream", "/v1/stream?run=x", "/v1/runs", "/", "/healthz", "/v1/health", "/nothing"):
        reply = await case.server.upgrade(path, headers(case.keys))
        assert (path, reply.status, reply.code) == (path, 401, code)


async def test_a_key_in_the_url_is_no_key(case: Case) -> None:
    for route in ROUTES:
        path = f"{path_of(route)}?key={case.keys.admin}&access_token={case.keys.admin}&jeton_session={case.keys.admin}"
        reply = await case.server.ask(route.method, path, announce=HUGE)
        assert (route.name, reply.status, reply.code) == (route.name, 401, "key_missing")
        assert case.keys.admin not in reply.body.decode()
    assert (await case.server.upgrade(f"/v1/stream?key={case.keys.admin}")).status == 401


async def test_a_key_without_the_scope_is_refused_before_the_body_is_read(case: Case) -> None:
    for route in ROUTES:
        if route.scopes:
            key = case.keys.by_scopes[route.scopes]
            reply = await case.server.ask(route.method, path_of(route), key=key, announce=HUGE)
            assert (route.name, reply.status, reply.code) == (route.name, 403, "scope_missing")
    key = await add_key(case.server.store, "run")
    await _known(case.server, key)
    reply = await case.server.upgrade("/v1/stream", bearer(key))
    assert (reply.status, reply.code) == (403, "scope_missing")


async def _known(server: Running, key: str) -> None:
    """Wait until the server has heard of a key, which it does within a second."""
    for _ in range(200):
        if (await server.ask("GET", "/v1/me", key=key)).status == 200:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("the server did not hear of the key")


async def test_a_body_that_is_too_long_is_refused_before_it_is_read(case: Case) -> None:
    for route in ROUTES:
        if route.method != "GET":
            reply = await case.server.ask(route.method, path_of(route), key=case.keys.admin, announce=HUGE)
            assert (route.name, reply.status, reply.code) == (route.name, 413, "body_too_large")


ODD = (
    "/x/health", "/x/healthz", "/health", "/v1/health", "/healthz/", "//healthz", "/healthz//", "/%68ealthz",
    "/./healthz",
    "/v1/../healthz", "/v1/%2e%2e/healthz", "/%2e/healthz", "/healthz%2f", "/healthz%00", "/healthz;x", "/HEALTHZ",
    "//", "//v1/me", "/v1//me", "/v1/me/", "/v1/%6de", "/v1/./me", "/v1/%2e/me", "/V1/me", "/v1/me%20", "/v1/me%3f",
    "/v1", "/v1/", "/v2/me", "/v1/runs/../me", "/v1/runs/%2e%2e", "/v1/runs/..", "/v1/runs/a%2fb", "/v1/runs//cancel",
    "/v1/sessions", "/v1/session/", "/v1/session/x", "/hooks", "/assets", "/.git/config", "/admin", "/favicon.ico",
)  # fmt: skip


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
async def test_an_odd_path_names_nothing(case: Case, method: str) -> None:
    for path in ODD:
        stranger = await case.server.ask(method, path)
        known = await case.server.ask(method, path, key=case.keys.admin)
        assert (path, stranger.status, known.status) == (path, 401, 404), method
        if method != "HEAD":
            assert (stranger.code, known.code) == ("key_missing", "unknown_path")


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
async def test_a_method_cannot_be_overridden(case: Case, header: str) -> None:
    over = [(header, "GET")]
    reply = await case.server.ask("POST", "/healthz", headers=over)
    assert (reply.status, reply.code) == (401, "key_missing")
    reply = await case.server.ask("POST", "/v1/me", headers=over, key=case.keys.admin)
    assert (reply.status, reply.code) == (405, "method_not_allowed")
    reply = await case.server.ask("GET", "/v1/keys", headers=[(header, "POST")], key=case.keys.admin)
    assert reply.status == 200


async def test_only_the_methods_of_a_path_are_served(case: Case) -> None:
    methods: dict[str, set[str]] = {"/v1/session": {"POST"}}
    for route in ROUTES:
        methods.setdefault(path_of(route), set()).add(route.method)
    for path, known in methods.items():
        for method in {"GET", "POST", "PUT", "DELETE", "PATCH", "TRACE"} - known:
            reply = await case.server.ask(method, path, key=case.keys.admin)
            assert (path, method, reply.status, reply.code) == (path, method, 405, "method_not_allowed")


PUBLIC = {("GET", "/healthz"): 200, ("GET", "/readyz"): 200, ("POST", "/hooks/open"): 202}


async def test_exactly_these_need_no_key(case: Case) -> None:
    for (method, path), status in PUBLIC.items():
        body = {"n": 1} if method == "POST" else None
        assert (await case.server.ask(method, path, body)).status == status
        for other in {"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"} - {method}:
            assert (path, other, (await case.server.ask(other, path)).status) == (path, other, 401)
    reply = await case.server.ask("POST", "/v1/session", {"key": made_up()})
    assert (reply.status, reply.code) == (401, "key_refused")
