"""Servers that are killed while clients follow runs: every client ends with the same events, each once."""

import asyncio
import random
from pathlib import Path

import httpx2
import pytest

from tests.api.streams.process import Data, Follower, Served, faults_in, free_port, lasting, served

WAYS = (("websocket",), ("sse",), ("websocket", "sse"))


@pytest.mark.parametrize(
    ("kills", "runs", "library"),
    [
        pytest.param(3, 4, lasting(8), id="3 kills, 4 runs"),
        pytest.param(50, 20, lasting(120), id="50 kills, 20 runs", marks=[pytest.mark.long, pytest.mark.timeout(900)]),
    ],
)
async def test_a_server_that_is_killed_again_and_again_skips_and_repeats_nothing(
    tmp_path: Path, kills: int, runs: int, library: str
) -> None:
    chance = random.Random(7)
    async with served(tmp_path, free_port(), library) as server:
        async with _client(server) as client:
            answers = [await client.post("/v1/runs", json={"workflow": "parent"}) for _ in range(runs)]
        started = [answer.json()["run_id"] for answer in answers]
        followers = [Follower(server, run, WAYS[number % 3]) for number, run in enumerate(started)]
        followers.append(Follower(server, started[0], WAYS[2]))
        following = [asyncio.create_task(follower.follow()) for follower in followers]
        followed = 0
        for _ in range(kills):
            await asyncio.sleep(chance.uniform(0.02, 0.3))
            followed += not all(each.done() for each in following)
            await server.kill()
            await server.start()
        await asyncio.wait_for(asyncio.gather(*following), 600)
        async with _client(server) as client:
            for follower, run in zip(followers, started, strict=False):
                assert follower.status == "completed"
                assert faults_in(follower.events) == []
                assert _of(follower.events, run) == await _told(client, run)
                children = (await client.get(f"/v1/runs/{run}/children")).json()["runs"]
                for child in children:
                    assert _of(follower.events, child["run_id"]) == await _told(client, child["run_id"])
                assert len(children) == 3
        assert followers[-1].events == followers[0].events, "one order for all"
        assert any(follower.connections > 1 for follower in followers), "somebody was cut off"
        assert followed == kills, "some kills came when nobody followed any more"
        cut = sum(follower.connections - 1 for follower in followers)
        told = sum(len(follower.events) for follower in followers)
        print(f"{kills} kills, {len(followers)} followers, cut off {cut} times, {told} events")


def _client(server: Served) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=server.url, headers=server.headers, timeout=30)


async def _told(client: httpx2.AsyncClient, run: str) -> list[Data]:
    """All events of a run, from page to page."""
    found: list[Data] = []
    after = ""
    while True:
        page = (await client.get(f"/v1/runs/{run}/events?limit=1000{after}")).json()
        found += page["events"]
        if page["next"] is None:
            return found
        after = f"&after={page['next']}"


def _of(events: list[Data], run: str) -> list[Data]:
    return [event for event in events if event["run_id"] == run]


def test_a_gap_and_a_repeat_are_found() -> None:
    events = [{"run_id": "a", "seq": seq} for seq in range(4)]
    assert faults_in(events) == []
    assert faults_in([events[0], events[2], events[3]]) != []
    assert faults_in([events[0], events[1], events[1], events[2]]) != []
