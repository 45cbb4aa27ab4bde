"""Webhooks over HTTP: two ways of signing, each delivery once, and nothing for whoever cannot sign."""

import base64
import hashlib
import hmac
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.api.server import HOOK_SECRET, Running, serving

BODY = b'{"n": 7}'
PATH = "/hooks/orders/paid"


@pytest.fixture
async def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Running, None]:
    monkeypatch.setenv("JETON_TEST_HOOK", HOOK_SECRET)
    async with serving(tmp_path / "store.db") as running:
        yield running


def of_body(name: str, body: bytes = BODY, secret: str = HOOK_SECRET) -> tuple[str, str]:
    return name, "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def standard(delivery: str, body: bytes = BODY, away_s: int = 0) -> list[tuple[str, str]]:
    at = str(int(time.time()) + away_s)
    made = hmac.new(HOOK_SECRET.encode(), f"{delivery}.{at}.".encode() + body, hashlib.sha256).digest()
    signature = "v1," + base64.b64encode(made).decode()
    return [("webhook-id", delivery), ("webhook-timestamp", at), ("webhook-signature", signature)]


async def test_a_signed_delivery_starts_one_run_however_often_it_comes(server: Running) -> None:
    for delivery, headers in {
        "d1": [of_body("X-Jeton-Signature"), ("X-Jeton-Delivery", "d1")],
        "d2": [of_body("X-Hub-Signature-256"), ("X-GitHub-Delivery", "d2")],
        "d3": standard("d3"),
    }.items():
        first, second = [await server.ask("POST", PATH, BODY, headers=headers) for _ in "12"]
        assert (first.status, second.status) == (202, 200)
        assert first.json == second.json
        assert set(first.json) == {"trigger", "delivery_id", "run_id"}
        assert (first.json["trigger"], first.json["delivery_id"]) == ("signed", delivery)
        run = await server.ask("GET", f"/v1/runs/{first.json['run_id']}?wait_ms=5000", key=server.key)
        assert run.json["output"] == {"n": 7}


async def test_the_same_signed_request_under_another_id_fires_nothing_new(server: Running) -> None:
    headers = standard("d1")
    first = await server.ask("POST", PATH, BODY, headers=headers)
    again = await server.ask("POST", PATH, BODY, headers=[*headers, ("X-Jeton-Delivery", "d2")])
    assert (again.status, again.json) == (200, first.json)


async def test_what_is_not_signed_is_refused(server: Running) -> None:
    for headers in (
        [],
        [of_body("X-Jeton-Signature", b"{}")],
        [of_body("X-Jeton-Signature", secret="another")],
        [("X-Jeton-Signature", "sha256=")],
        standard("d1", b"{}"),
        standard("d1", away_s=400),
        standard("d1", away_s=-400),
        standard("d1")[:2],
    ):
        reply = await server.ask("POST", PATH, BODY, headers=headers)
        assert (reply.status, reply.code) == (401, "bad_signature")
        assert HOOK_SECRET not in reply.body.decode()
    assert (await server.ask("GET", "/v1/runs", key=server.key)).json["runs"] == []


async def test_a_body_is_looked_at_after_its_signature(server: Running) -> None:
    for body in (b"{", b"\xff", b'{"a": 1, "a": 2}'):
        assert (await server.ask("POST", PATH, body)).code == "bad_signature"
        reply = await server.ask("POST", PATH, body, headers=[of_body("X-Jeton-Signature", body)])
        assert (reply.status, reply.code) == (422, "input_invalid")


@pytest.mark.parametrize("path", ["/hooks/nothing", "/hooks/orders", "/hooks/open/", "/hooks//open", "/hooks/%6fpen"])
async def test_a_path_that_no_trigger_has_is_not_found(server: Running, path: str) -> None:
    reply = await server.ask("POST", path, BODY)
    assert (reply.status, reply.code) == (404, "unknown_hook")


async def test_a_hook_that_was_disabled_says_so(server: Running) -> None:
    assert (await server.ask("POST", "/v1/workflows/heard/disable", {}, key=server.key)).status in (200, 204)
    reply = await server.ask("POST", "/hooks/open", BODY)
    assert (reply.status, reply.code) == (409, "disabled")
