"""Whose names a server answers to, and from which pages requests are taken: by key, by cookie, and for sockets."""

import asyncio
from collections.abc import Generator
from typing import NamedTuple

import pytest

from jeton.api.state import Settings
from tests.api.server import HUGE, Running, add_key, serving_in_thread

ALLOWED = Settings(allowed_hosts=frozenset({"jeton.example"}), allowed_origins=frozenset({"https://page.example"}))


class Case(NamedTuple):
    server: Running
    key: str
    cookie: str

    def by(self, kind: str) -> tuple[str, str]:
        return ("Authorization", f"Bearer {self.key}") if kind == "key" else ("Cookie", f"a=b; {self.cookie}")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Generator[Case, None, None]:
    store = tmp_path_factory.mktemp("door") / "store.db"
    key = asyncio.run(add_key(store, "admin"))
    with serving_in_thread(store, ALLOWED) as server:
        signed_in = asyncio.run(server.ask("POST", "/v1/session", {"key": key}))
        assert signed_in.status == 204
        yield Case(server, key, signed_in.headers["set-cookie"].partition(";")[0])


PORT = "{port}"
HOSTS_REFUSED = (
    "127.0.0.1.evil.example", "evil.example", "localhost.evil.example", "evil.example:{port}", "127.0.0.1@evil.example",
    "evil.example#127.0.0.1", "127.0.0.1:{port}.evil.example", "", " ", "128.0.0.1", "0.0.0.0", "2130706433",
    "0x7f000001", "127.1.evil", "[::1", "[::1]evil", "::1", "jeton.example.evil.example", "sub.jeton.example",
    "jeton.example.", "127.0.0.1/", "localhost:x", "127.0.0.1,evil.example", "[::ffff:8.8.8.8]", "xn--localhost-",
    "ｌocalhost",
)  # fmt: skip
HOSTS_TAKEN = (
    "127.0.0.1",
    "127.0.0.1:{port}",
    "localhost",
    "LOCALHOST:{port}",
    "[::1]:{port}",
    "127.0.0.2",
    "jeton.example:443",
)
ORIGINS_REFUSED = (
    "null", "", "https://127.0.0.1:{port}", "http://127.0.0.1:1", "http://127.0.0.1", "http://localhost:{port}",
    "http://evil.example", "http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:{port}/", "http://evil@127.0.0.1:{port}",
    "HTTP://127.0.0.1:{port}", "file://", "http://page.example", "https://page.example:444", "https://page.example.evil.example",
    "https://page.example https://evil.example", "*", "chrome-extension://abc",
)  # fmt: skip
ORIGINS_TAKEN = ("http://127.0.0.1:{port}", "https://page.example")
KINDS = pytest.mark.parametrize("kind", ["key", "cookie"])


def encoded(text: str, case: Case) -> str:
    return text.replace(PORT, str(case.server.port)).encode().decode("latin-1")


@KINDS
@pytest.mark.parametrize("host", HOSTS_REFUSED)
async def test_a_host_that_is_not_ours_is_refused(case: Case, host: str, kind: str) -> None:
    headers = [("Host", encoded(host, case)), case.by(kind)]
    for reply in (
        await case.server.ask("GET", "/v1/me", headers=headers),
        await case.server.ask("POST", "/v1/runs", headers=headers, announce=HUGE),
        await case.server.ask("GET", "/healthz", headers=headers),
        await case.server.upgrade("/v1/stream", headers),
    ):
        assert (reply.status, reply.code) == (421, "host_refused")


@KINDS
@pytest.mark.parametrize("host", HOSTS_TAKEN)
async def test_a_host_of_ours_is_served(case: Case, host: str, kind: str) -> None:
    reply = await case.server.ask("GET", "/v1/me", headers=[("Host", encoded(host, case)), case.by(kind)])
    assert reply.status == 200


async def test_a_request_without_a_host_or_with_two_is_refused(case: Case) -> None:
    for lines in ("", "Host: 127.0.0.1\r\nHost: evil.example\r\n", "Host: evil.example\r\nHost: 127.0.0.1\r\n"):
        request = f"GET /v1/me HTTP/1.1\r\n{lines}Authorization: Bearer {case.key}\r\n\r\n"
        assert (await case.server.send(request.encode())).status == 421


@KINDS
@pytest.mark.parametrize("origin", ORIGINS_REFUSED)
async def test_a_page_that_is_not_ours_is_refused(case: Case, origin: str, kind: str) -> None:
    headers = [("Origin", encoded(origin, case)), case.by(kind)]
    for reply in (
        await case.server.ask("GET", "/v1/me", headers=headers),
        await case.server.ask("POST", "/v1/runs", headers=headers, announce=HUGE),
        await case.server.ask("OPTIONS", "/v1/runs", headers=headers),
        await case.server.ask("POST", "/v1/session", {"key": case.key}, headers=headers[:1]),
        await case.server.upgrade("/v1/stream", headers),
    ):
        assert (reply.status, reply.code) == (403, "origin_refused")
        assert "set-cookie" not in reply.headers


@KINDS
@pytest.mark.parametrize("origin", ORIGINS_TAKEN)
async def test_a_page_of_ours_is_served_without_a_header_for_others(case: Case, origin: str, kind: str) -> None:
    headers = [("Origin", encoded(origin, case)), case.by(kind)]
    for method, path, body in (("GET", "/v1/me", None), ("PUT", "/v1/queries/mine", {"q": "status:failed"})):
        reply = await case.server.ask(method, path, body, headers=headers)
        assert reply.status == 200
        assert [name for name in reply.headers if name.startswith("access-control")] == []


async def test_a_page_elsewhere_is_given_no_leave_before_it_asks(case: Case) -> None:
    asks = [("Origin", "http://evil.example"), ("Access-Control-Request-Method", "POST")]
    for path in ("/v1/runs", "/healthz", "/hooks/open", "/v1/session"):
        reply = await case.server.ask("OPTIONS", path, headers=asks)
        assert reply.status == 403
        assert [name for name in reply.headers if name.startswith("access-control")] == []


async def test_an_answer_says_what_a_browser_may_do_with_it(case: Case) -> None:
    reply = await case.server.ask("GET", "/v1/nothing")
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-")
    assert policy.endswith("frame-ancestors 'none'; require-trusted-types-for 'script'")
    assert (reply.headers["x-content-type-options"], reply.headers["referrer-policy"]) == ("nosniff", "no-referrer")
    assert reply.headers["x-request-id"] == reply.json["request_id"]
    assert reply.headers["cache-control"] == "no-store"
    assert "server" not in reply.headers
