"""Health, and readiness: whether the store is ours and can be written."""

import asyncio
from pathlib import Path

from tests.api.server import serving


async def test_a_server_whose_store_is_gone_lives_and_is_not_ready(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    async with serving(store) as server:
        assert (await server.ask("GET", "/readyz")).status == 200
        for file in tmp_path.glob("store.db*"):
            file.rename(tmp_path / f"moved-{file.name}")
        async with asyncio.timeout(10):
            while (reply := await server.ask("GET", "/readyz")).status == 200:
                await asyncio.sleep(0.05)
        assert (reply.status, reply.code) == (503, "store_failed")
        assert (await server.ask("GET", "/healthz")).status == 200
        started = await server.ask("POST", "/v1/runs", {"workflow": "hold"}, key=server.key)
        assert (started.status, started.code) == (503, "store_failed")


async def test_health_answers_whatever_is_asked_of_the_store(tmp_path: Path) -> None:
    async with serving(tmp_path / "store.db") as server:
        replies = await asyncio.gather(*(server.ask("GET", "/healthz") for _ in range(20)))
        assert {(reply.status, reply.body) for reply in replies} == {(200, b'{"ok":true}')}
