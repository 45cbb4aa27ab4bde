"""What a stream says, where it begins, who may see what, and how it ends."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from jeton.api.state import Settings
from jeton.api.streams import writers
from jeton.engine.views.events import bounded
from jeton.model.json import JsonObject
from tests.api.server import Running, add_key, serving

Data = dict[str, Any]
TALK: JsonObject = {
    "model_profiles": {"fast": {"provider": "scripted", "script": [{"text": "hello there"}, {"text": "again"}]}},
    "personas": {"helper": {"instructions": "Help.", "model_profile": "fast"}},
    "agents": {"bob": {"persona": "helper"}},
    "workflows": {
        "double": {"initial_node": "a", "nodes": {"a": {}}},
        "ask": {"initial_node": "gate", "nodes": {"gate": {"gate": {"title": "Ship it?"}}}},
    },
}


@asynccontextmanager
async def open_stream(server: Running, query: str, key: str | None = None) -> AsyncGenerator[ClientConnection, None]:
    headers = {"authorization": f"Bearer {key or server.key}"}
    address = f"{server.url.replace('http', 'ws', 1)}/v1/stream{query}"
    async with connect(address, additional_headers=headers, max_size=None) as socket:
        yield socket


async def frames_of(socket: ClientConnection, until: str = "end") -> list[Data]:
    found: list[Data] = []
    async with asyncio.timeout(20):
        while not found or found[-1]["kind"] != until:
            found.append(json.loads(await socket.recv()))
    return found


async def sse(server: Running, query: str, **headers: str) -> tuple[int, list[tuple[str, str | None, Data]]]:
    sent = {"authorization": f"Bearer {server.key}", "accept": "text/event-stream", **headers}
    async with httpx2.AsyncClient(timeout=20) as client:
        answer = await client.get(f"{server.url}/v1/stream{query}", headers=sent)
    found: list[tuple[str, str | None, Data]] = []
    for block in answer.text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "event" in fields:
            found.append((fields["event"], fields.get("id"), json.loads(fields["data"])))
    return answer.status_code, found


async def started(server: Running, workflow: str, **more: object) -> str:
    path = "/v1/runs?wait_ms=5000" if workflow == "double" else "/v1/runs"
    reply = await server.ask("POST", path, {"workflow": workflow, **more}, key=server.key)
    assert reply.status == 201, reply.body
    return str(reply.json["run_id"])


async def test_a_run_from_anywhere_to_its_end(tmp_path: Path) -> None:
    async with serving(tmp_path / "s.db", Settings(heartbeat_ms=200), TALK) as server:
        run = await started(server, "double")
        async with open_stream(server, f"?run={run}") as socket:
            whole = await frames_of(socket)
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1000
        kinds = [frame["kind"] for frame in whole]
        events = [frame for frame in whole if frame["kind"] == "event"]
        assert kinds == ["hello", *["event"] * len(events), "caught_up", "end"]
        assert [frame["event"]["seq"] for frame in events] == list(range(len(events)))
        assert (whole[-1]["run_id"], whole[-1]["status"]) == (run, "completed")
        for number, frame in enumerate(events):
            async with open_stream(server, f"?run={run}&after={frame['pos']}") as socket:
                rest = [each for each in await frames_of(socket) if each["kind"] == "event"]
            assert rest == events[number + 1 :]
        async with open_stream(server, f"?run={run}&after=1") as socket:
            assert next(each["event"]["seq"] for each in await frames_of(socket) if each["kind"] == "event") == 2
        status, told = await sse(server, f"?run={run}")
        assert status == 200
        assert [frame for kind, _, frame in told if kind == "event"] == events
        assert all(place == frame["pos"] for kind, place, frame in told if kind == "event")
        middle = {"last-event-id": events[1]["pos"]}
        status, told = await sse(server, f"?run={run}&after={events[0]['pos']}", **middle)
        assert [frame for kind, _, frame in told if kind == "event"] == events[2:]
        assert (await sse(server, f"?run={run}&after={whole[-1]['pos']}"))[0] == 204
        status, traced = await sse(server, f"?run={run}&trace=1")
        decided = [frame["event"] for kind, _, frame in traced if kind == "event" and "seq" not in frame["event"]]
        assert decided
        assert all(str(event["type"]).startswith("decision.") for event in decided)


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("?run=nothing", 404, "unknown_run"),
        ("?conversation=nothing", 404, "unknown_run"),
        ("?after=p1-0-00000000", 400, "bad_cursor"),
        ("?after=soon", 400, "bad_cursor"),
        ("?after=3", 400, "bad_cursor"),
        ("?run=a&conversation=b", 400, "ambiguous"),
        ("?rum=a", 400, "bad_argument"),
    ],
)
async def test_what_is_refused_is_a_problem_for_sockets_too(tmp_path: Path, query: str, status: int, code: str) -> None:
    async with serving(tmp_path / "s.db", None, TALK) as server:
        key = [("Authorization", f"Bearer {server.key}")]
        for reply in (
            await server.upgrade(f"/v1/stream{query}", key),
            await server.ask("GET", f"/v1/stream{query}", key=server.key, headers=[("Accept", "text/event-stream")]),
        ):
            assert (reply.status, reply.code) == (status, code)


async def test_all_runs_have_one_line_and_heartbeats_can_be_resumed_from(tmp_path: Path) -> None:
    async with serving(tmp_path / "s.db", Settings(heartbeat_ms=100), TALK) as server:
        await started(server, "double")
        async with open_stream(server, "?after=head") as socket:
            quiet = await frames_of(socket, "heartbeat")
            assert [frame["kind"] for frame in quiet] == ["hello", "caught_up", "heartbeat"]
            run = await started(server, "double")
            await frames_of(socket, "event")
        async with open_stream(server, f"?after={quiet[-1]['pos']}") as socket:
            later = await frames_of(socket, "caught_up")
        events = [frame["event"] for frame in later if frame["kind"] == "event"]
        assert {event["run_id"] for event in events} == {run}
        assert {str(event["type"]).split(".")[0] for event in events} == {"run"}


async def test_who_may_only_answer_sees_gates_and_conversations(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    answers = await add_key(store, "answer")
    admin = await add_key(store, "admin")
    async with serving(store, None, TALK) as found:
        server = found._replace(key=admin)
        run = await started(server, "ask")
        for query in ("", f"?run={run}"):
            async with open_stream(server, query, answers) as socket:
                told = await frames_of(socket, "caught_up")
            assert {frame["event"]["type"] for frame in told if frame["kind"] == "event"} == {"gate.opened"}


async def test_a_client_that_speaks_and_a_key_that_is_revoked(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    key = await add_key(store, "admin")
    other = await add_key(store, "read")
    async with serving(store, None, TALK) as found:
        server = found._replace(key=key)
        async with open_stream(server, "") as socket:
            await frames_of(socket, "caught_up")
            await socket.send("hello")
            with pytest.raises(ConnectionClosed) as closed:
                await frames_of(socket)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008
        async with open_stream(server, "", other) as socket:
            await frames_of(socket, "caught_up")
            assert (await server.ask("DELETE", f"/v1/keys/{other[4:12]}", key=key)).status == 204
            last = (await frames_of(socket, "bye"))[-1]
            assert last["code"] == "key_refused"
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4401


async def test_a_conversation_has_its_pieces_before_its_events(tmp_path: Path) -> None:
    async with serving(tmp_path / "s.db", None, TALK) as server:
        begun = await server.ask("POST", "/v1/agents/bob/conversations", {}, key=server.key)
        conversation = begun.json["conversation_id"]
        async with open_stream(server, f"?conversation={conversation}") as socket:
            await frames_of(socket, "caught_up")
            path = f"/v1/conversations/{conversation}/messages"
            assert (await server.ask("POST", path, {"text": "hi"}, key=server.key)).status == 202
            told: list[Data] = []
            while not told or told[-1].get("event", {}).get("type") != "turn.completed":
                told += await frames_of(socket, "event")
        text = ""
        for frame in told:
            if frame["kind"] == "delta":
                text = text[: frame["index"]] + frame["text"]
                assert (frame["turn"], frame["move"]) == (1, 0)
        assert text in ("", "hello there")
        seqs = [frame["event"]["seq"] for frame in told if frame["kind"] == "event"]
        assert seqs == sorted(seqs)


async def test_a_reader_that_stops_is_dropped_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writers, "SEND_S", 0.3)
    dropped: list[object] = []

    async def write(*args: Any) -> str | None:
        dropped.append(await written(*args))
        return None

    written = writers.write_socket
    monkeypatch.setattr(writers, "write_socket", write)
    async with serving(tmp_path / "s.db", None, TALK) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1024)
        lines = (
            "GET /v1/stream HTTP/1.1",
            f"Host: 127.0.0.1:{server.port}",
            f"Authorization: Bearer {server.key}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
        )
        writer.write("\r\n".join((*lines, "", "")).encode())
        await reader.readuntil(b"\r\n\r\n")
        big = {"text": "x" * 200_000}
        async with open_stream(server, "") as socket:
            runs = [await started(server, "double", input=big) for _ in range(80)]
            async with asyncio.timeout(60):
                while not dropped:
                    await asyncio.sleep(0.05)
            ended: set[str] = set()
            while len(ended) < len(runs):
                frame = json.loads(await socket.recv())
                if frame["kind"] == "event" and frame["event"]["type"] == "run.completed":
                    ended.add(frame["event"]["run_id"])
        assert dropped[0] == "slow_reader"
        writer.transport.abort()


def test_an_event_that_is_too_large_links_to_itself() -> None:
    event: JsonObject = {"run_id": "r", "seq": 4, "at": "now", "type": "task.completed", "output": "x" * 300_000}
    shown = bounded(event)
    assert shown["output"] == {"$large": {"size": 300_002, "href": "/v1/runs/r/events?after=3&limit=1"}}
    assert bounded({**event, "output": "x"}) == {**event, "output": "x"}
