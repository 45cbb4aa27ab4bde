"""Servers that are killed while clients follow runs: every client ends with the same events, each once."""

import asyncio
import random
from pathlib import Path

import httpx2

from tests.api.streams.process import KILLS, Data, Follower, faults_in, free_port, served

RUNS = 4 if KILLS <= 3 else 20
WAYS = (("websocket",), ("sse",), ("websocket", "sse"))


async def test_a_server_that_is_killed_again_and_again_skips_and_repeats_nothing(tmp_path: Path) -> None:
    chance = random.Random(7)
    async with served(tmp_path, free_port()) as server:
        async with httpx2.AsyncClient(base_url=server.url, headers=server.headers, timeout=30) as client:
            answers = [await client.post("/v1/runs", json={"workflow": "parent"}) for _ in range(RUNS)]
        runs = [answer.json()["run_id"] for answer in answers]
        followers = [Follower(server, run, WAYS[number % 3]) for number, run in enumerate(runs)]
        followers.append(Follower(server, runs[0], WAYS[2]))
        following = [asyncio.create_task(follower.follow()) for follower in followers]
        for _ in range(KILLS):
            await asyncio.sleep(chance.uniform(0.02, 0.3))
            await server.kill()
            await server.start()
        await asyncio.wait_for(asyncio.gather(*following), 120)
        async with httpx2.AsyncClient(base_url=server.url, headers=server.headers, timeout=30) as client:
            for follower, run in zip(followers, runs, strict=False):
                assert follower.status == "completed"
                assert faults_in(follower.events) == []
                assert _of(follower.events, run) == (await client.get(f"/v1/runs/{run}/events")).json()["events"]
                children = (await client.get(f"/v1/runs/{run}/children")).json()["runs"]
                for child in children:
                    told = (await client.get(f"/v1/runs/{child['run_id']}/events")).json()["events"]
                    assert _of(follower.events, child["run_id"]) == told
                assert len(children) == 3
        assert followers[-1].events == followers[0].events, "one order for all"
        assert any(follower.connections > 1 for follower in followers), "somebody was cut off"


def _of(events: list[Data], run: str) -> list[Data]:
    return [event for event in events if event["run_id"] == run]


def test_a_gap_and_a_repeat_are_found() -> None:
    events = [{"run_id": "a", "seq": seq} for seq in range(4)]
    assert faults_in(events) == []
    assert faults_in([events[0], events[2], events[3]]) != []
    assert faults_in([events[0], events[1], events[1], events[2]]) != []
