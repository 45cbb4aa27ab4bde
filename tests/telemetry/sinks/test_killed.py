"""A server that is killed while it sends to a sink: what it had not written down is sent again, under the same ids."""

import json
from pathlib import Path

import httpx2
import pytest

import jeton
from tests.api.streams.process import LIBRARY, free_port, served
from tests.telemetry.sinks.receiver import SECRET, receiving

SINKS = """
project:
  settings:
    secrets: {{SINK: {{env: JETON_TEST_SINK}}}}
    http: {{allow: [127.0.0.1]}}
    sinks: {{audit: {{url: "{url}", secret: SINK, events: ["*"]}}}}
"""
KILLED_AFTER = (40,)  # events that were taken
RUNS = 3


async def test_a_killed_server_sends_again_and_leaves_out_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JETON_TEST_SINK", SECRET)
    async with receiving() as receiver:
        library = LIBRARY + SINKS.format(url=receiver.url)
        async with served(tmp_path, free_port(), library) as server:
            async with httpx2.AsyncClient(base_url=server.url, headers=server.headers, timeout=30) as client:
                for _ in range(RUNS):
                    assert (await client.post("/v1/runs", json={"workflow": "parent"})).status_code == 201
            for count in KILLED_AFTER:
                await receiver.until(lambda count=count: len(receiver.taken) >= count)  # type: ignore[misc]
                await server.kill()
                await server.start()
            await receiver.until(lambda: receiver.types.count("run.completed") == 4 * RUNS)
        async with jeton.open(tmp_path / "s.db", owner=False) as engine:
            wanted = [(str(at), event) async for entry in engine.line() for at, event in entry.events()]
    first = {each.id: each.body for each in reversed(receiver.taken)}
    assert list(dict.fromkeys(each.id for each in receiver.taken)) == [at for at, _ in wanted]
    assert [first[at]["data"]["event"] for at, _ in wanted] == json.loads(json.dumps([event for _, event in wanted]))
    assert all(first[each.id] == each.body for each in receiver.taken), "sent again, it is the same"
    assert len(receiver.taken) > len(wanted), "something was sent again"
