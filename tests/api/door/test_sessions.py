"""Sessions of browsers: their cookie, how long they last, and what they may be used for."""

import asyncio
from pathlib import Path

from jeton.engine.opening import open
from tests.api.server import Running, add_key, serving


async def signed_in(server: Running, key: str) -> str:
    reply = await server.ask("POST", "/v1/session", {"key": key})
    assert (reply.status, reply.body) == (204, b"")
    return reply.headers["set-cookie"]


def cookie_of(header: str) -> tuple[str, str]:
    return "Cookie", header.partition(";")[0]


def ours(server: Running) -> tuple[str, str]:
    return "Origin", server.url


async def test_the_cookie_is_of_no_use_to_scripts_and_other_sites(tmp_path: Path) -> None:
    key = await add_key(tmp_path / "store.db", "read")
    async with serving(tmp_path / "store.db") as server:
        header = await signed_in(server, key)
        value, *attributes = header.split("; ")
        assert value.startswith("jeton_session=")
        assert len(value) > 50
        assert set(attributes) == {"HttpOnly", "SameSite=Strict", "Path=/", f"Max-Age={12 * 3600}"}
        assert key not in header


async def test_a_session_outlives_a_restart_and_ends_with_its_key(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    key, another = await add_key(store, "read", name="ann"), await add_key(store, "read", name="bob")
    async with serving(store) as server:
        cookie, others = cookie_of(await signed_in(server, key)), cookie_of(await signed_in(server, another))
        assert (await server.ask("GET", "/v1/me", headers=[cookie])).json["name"] == "ann"
    async with serving(store) as server:
        assert (await server.ask("GET", "/v1/me", headers=[cookie])).json["name"] == "ann"
        async with open(store, owner=False) as engine:
            await engine.access.revoke_key(key[4:12], 1)
        async with asyncio.timeout(20):  # it follows what is done beside it
            while (reply := await server.ask("GET", "/v1/me", headers=[cookie])).status == 200:
                await asyncio.sleep(0.05)
        assert (reply.status, reply.code) == (401, "key_refused")
        assert (await server.ask("GET", "/v1/me", headers=[others])).json["name"] == "bob"


async def test_signing_out_ends_the_session_and_removes_the_cookie(tmp_path: Path) -> None:
    key = await add_key(tmp_path / "store.db", "read")
    async with serving(tmp_path / "store.db") as server:
        cookie = cookie_of(await signed_in(server, key))
        reply = await server.ask("DELETE", "/v1/session", headers=[cookie, ours(server)])
        assert reply.status == 204
        assert "Max-Age=0" in reply.headers["set-cookie"]
        assert (await server.ask("GET", "/v1/me", headers=[cookie])).status == 401


async def test_nobody_is_signed_out_by_another_page(tmp_path: Path) -> None:
    key = await add_key(tmp_path / "store.db", "read")
    async with serving(tmp_path / "store.db") as server:
        cookie = cookie_of(await signed_in(server, key))
        reply = await server.ask("DELETE", "/v1/session", headers=[cookie])
        assert (reply.status, reply.code) == (403, "origin_refused")
        assert (await server.ask("GET", "/v1/me", headers=[cookie])).status == 200


async def test_a_cookie_without_an_origin_is_good_for_reading_only(tmp_path: Path) -> None:
    key = await add_key(tmp_path / "store.db", "admin")
    async with serving(tmp_path / "store.db") as server:
        cookie = cookie_of(await signed_in(server, key))
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            reply = await server.ask(method, "/v1/queries/q", {"q": "x"}, headers=[cookie])
            assert (reply.status, reply.code) == (403, "origin_refused")
        with_origin = await server.ask("PUT", "/v1/queries/q", {"q": "x"}, headers=[cookie, ours(server)])
        assert with_origin.status == 200
        with_key = await server.ask("PUT", "/v1/queries/q", {"q": "x"}, headers=[cookie], key=key)
        assert with_key.status == 200


async def test_a_session_has_no_more_scopes_than_its_key(tmp_path: Path) -> None:
    key = await add_key(tmp_path / "store.db", "read")
    async with serving(tmp_path / "store.db") as server:
        cookie = cookie_of(await signed_in(server, key))
        reply = await server.ask("POST", "/v1/runs", {"workflow": "double"}, headers=[cookie, ours(server)])
        assert (reply.status, reply.code) == (403, "scope_missing")


NO_KEYS: tuple[object, ...] = ({}, {"key": ""}, {"key": None}, {"key": 7}, {"key": "x", "more": 1}, [], b"{", b"")


async def test_what_is_no_key_signs_nobody_in(tmp_path: Path) -> None:
    await add_key(tmp_path / "store.db", "read")
    async with serving(tmp_path / "store.db") as server:
        for body in NO_KEYS:
            reply = await server.ask("POST", "/v1/session", body)
            assert (body, reply.status in (400, 401)) == (body, True)
            assert "set-cookie" not in reply.headers
        assert (await server.ask("DELETE", "/v1/session")).status == 401


async def test_a_key_of_a_person_answers_as_that_person_only(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    anna, anybody = await add_key(store, "admin", person="anna"), await add_key(store, "admin")
    async with serving(store) as server:
        for key, by, status, answered in (
            (anna, None, 200, "anna"),
            (anna, "anna", 200, "anna"),
            (anna, "bob", 422, None),
            (anybody, "bob", 200, "bob"),
        ):
            run = (await server.ask("POST", "/v1/runs", {"workflow": "ask"}, key=key)).json["run_id"]
            gate = await opened(server, run, key)
            body = {"value": {"ok": True}} if by is None else {"value": {"ok": True}, "by": by}
            reply = await server.ask("POST", f"/v1/gates/{gate}/answer", body, key=key)
            assert (by, reply.status) == (by, status)
            events = (await server.ask("GET", f"/v1/runs/{run}/events", key=key)).json["events"]
            assert [each.get("by") for each in events if each["type"] == "gate.answered"] == (
                [] if answered is None else [answered]
            )


async def opened(server: Running, run: str, key: str) -> str:
    """The gate of a run, once it is open."""
    for _ in range(200):
        gates = (await server.ask("GET", f"/v1/gates?run={run}", key=key)).json["gates"]
        if gates:
            return str(gates[0]["id"])
        await asyncio.sleep(0.02)
    raise AssertionError("no gate was opened")
