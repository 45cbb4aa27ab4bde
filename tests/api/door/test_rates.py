"""How often a key or an address may ask, and that whoever asks too often takes nothing from others."""

import asyncio
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from jeton.api.door.rates import MOST_BUCKETS, Rates
from jeton.model.failure import Refused
from tests.api.door.test_sessions import opened
from tests.api.server import Running, add_key, serving


def taken(rates: Rates, name: str, times: int, now: float) -> int:
    """How many of so many requests are let through."""
    count = 0
    for _ in range(times):
        with suppress(Refused):
            rates.take(name, now)
            count += 1
    return count


def test_a_bucket_holds_a_burst_and_is_refilled_as_time_passes() -> None:
    rates = Rates(200, 400)
    assert taken(rates, "a", 1_000, now=10.0) == 400
    assert taken(rates, "a", 1_000, now=10.5) == 100
    assert taken(rates, "a", 1_000, now=1_000.0) == 400
    assert taken(rates, "b", 1_000, now=10.0) == 400


def test_a_clock_that_goes_back_gives_nothing() -> None:
    rates = Rates(200, 400)
    assert taken(rates, "a", 400, now=10.0) == 400
    assert taken(rates, "a", 10, now=5.0) == 0


def test_names_that_nobody_uses_are_forgotten() -> None:
    rates = Rates(1, 1)
    for number in range(MOST_BUCKETS + 10):
        rates.take(str(number), 0.0)
    with pytest.raises(Refused):
        rates.take(str(MOST_BUCKETS), 0.0)
    rates.take("0", 0.0)


async def flood(server: Running, times: int, key: str | None = None) -> Counter[int]:
    """Ask so often on eight connections at once: who one is, or without a key for a hook that is not there."""
    host = f"Host: 127.0.0.1:{server.port}\r\n"
    if key is None:
        request = f"POST /hooks/nothing HTTP/1.1\r\n{host}Content-Length: 0\r\n\r\n".encode()
    else:
        request = f"GET /v1/me HTTP/1.1\r\n{host}Authorization: Bearer {key}\r\n\r\n".encode()

    async def connection() -> list[int]:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        found: list[int] = []
        for _ in range(times // 80):
            writer.write(request * 10)
            for _ in range(10):
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next(line for line in head.split("\r\n") if line.startswith("content-length"))
                await reader.readexactly(int(length.split()[1]))
                found.append(int(head.split()[1]))
        writer.close()
        return found

    return Counter(status for found in await asyncio.gather(*(connection() for _ in range(8))) for status in found)


async def test_one_that_floods_is_told_to_wait_and_others_are_served(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    busy, other = await add_key(store, "admin"), await add_key(store, "admin")
    async with serving(store) as server:
        runs = [(await server.ask("POST", "/v1/runs", {"workflow": "hold"}, key=other)).json["run_id"] for _ in "12345"]
        asks = [(await server.ask("POST", "/v1/runs", {"workflow": "ask"}, key=other)).json["run_id"] for _ in "12345"]
        gates = [await opened(server, run, other) for run in asks]
        flooding = asyncio.ensure_future(flood(server, 960, busy))
        statuses = Counter[int]()
        for run, gate in zip(runs, gates, strict=True):
            for reply in (
                await server.ask("POST", f"/v1/runs/{run}/cancel", {}, key=other),
                await server.ask("POST", f"/v1/gates/{gate}/answer", {"value": {}}, key=other),
                await server.ask("GET", "/healthz"),
            ):
                statuses[reply.status] += 1
        assert statuses == {200: 15}
        flooded = await flooding
        assert set(flooded) == {200, 429}
        assert flooded[200] >= 400
        refused = await server.ask("GET", "/v1/me", key=busy)
        if refused.status == 429:
            assert (refused.code, refused.headers["retry-after"]) == ("rate_limited", "1")


async def test_a_key_that_used_up_its_rate_can_still_cancel_and_answer(tmp_path: Path) -> None:
    async with serving(tmp_path / "store.db") as server:
        key = server.key
        assert key is not None
        run = (await server.ask("POST", "/v1/runs", {"workflow": "hold"}, key=key)).json["run_id"]
        assert (await flood(server, 960, key))[429]
        assert (await server.ask("POST", f"/v1/runs/{run}/cancel", {}, key=key)).status == 200


async def test_strangers_at_one_address_are_bounded_and_health_is_not(tmp_path: Path) -> None:
    async with serving(tmp_path / "store.db") as server:
        hooks = await flood(server, 960)
        assert set(hooks) == {404, 429}
        assert hooks[404] >= 400
        assert {(await server.ask("GET", "/healthz")).status for _ in range(20)} == {200}


async def test_keys_that_are_refused_count_among_what_an_address_may_ask_for(tmp_path: Path) -> None:
    async with serving(tmp_path / "store.db") as server:
        refused = await flood(server, 960, "jtn_made-up")
        assert set(refused) == {401}, "each is told why"
        assert (await flood(server, 240))[429] > 0, "the burst is used up"
        assert (await server.ask("GET", "/v1/me", key=server.key)).status == 200, "whoever has a key is not held up"
        assert (await server.ask("GET", "/healthz")).status == 200
