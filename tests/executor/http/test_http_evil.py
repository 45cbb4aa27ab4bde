"""Servers that mean harm: each trick has an outcome that is written down, and leaves no connection behind."""

import asyncio
import time
from pathlib import Path

import pytest

import jeton
from jeton.executor import Executor
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.task import Action, Step, Task
from jeton.model.definition.workflow import Library
from jeton.model.effect import StartTask, StopTask
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from tests.executor.given import unheard
from tests.executor.http.evil_server import EvilServer, answer, evil_server
from tests.executor.http.given import LOOPBACK, caller


@pytest.mark.parametrize(
    ("path", "limits", "type", "message", "transient"),
    [
        pytest.param(
            "/endless-body", {"body_bytes": 300_000}, "http_body_too_large",
            "the body is larger than 300000 bytes (limits.body_bytes)", False, id="an endless body",
        ),
        pytest.param(
            "/gzip-bomb", {"body_bytes": 1_000_000}, "http_body_too_large",
            "the body is larger than 1000000 bytes (limits.body_bytes)", False, id="a gzip bomb",
        ),
        pytest.param(
            "/empty-blocks", {"body_bytes": 300_000}, "http_body_too_large",
            "the body is larger than 300000 bytes (limits.body_bytes)", False, id="packed nothing without end",
        ),
        pytest.param(
            "/huge-headers", {}, "http_headers_too_large",
            "the headers are larger than 65536 bytes (limits.header_bytes)", False, id="headers without end",
        ),
        pytest.param(
            "/slow-drip", {"total_ms": 150}, "http_timeout",
            "took longer than 150 ms (limits.total_ms)", True, id="a slow drip",
        ),
        pytest.param(
            "/slow-headers", {"total_ms": 150}, "http_timeout",
            "took longer than 150 ms (limits.total_ms)", True, id="headers that drip",
        ),
        pytest.param(
            "/continue", {"total_ms": 150}, "http_timeout",
            "took longer than 150 ms (limits.total_ms)", True, id="100 Continue, for ever",
        ),
        pytest.param(
            "/silence", {"idle_ms": 100}, "http_timeout",
            "received nothing for 100 ms (limits.idle_ms)", True, id="silence",
        ),
        pytest.param(
            "/hang-up", {}, "http_network",
            "Server disconnected without sending a response.", True, id="hanging up",
        ),
        pytest.param(
            "/half", {}, "http_network",
            "peer closed connection without sending complete message body (received 4 bytes, expected 100)", True,
            id="half a body",
        ),
        pytest.param(
            "/round", {}, "redirect_refused", "was redirected more than 10 times", False, id="50 redirects",
        ),
    ],
)  # fmt: skip
async def test_tricks(path: str, limits: JsonObject, type: str, message: str, transient: bool) -> None:
    async with evil_server() as server, caller() as project:
        failed = await project.fails(server.url + path, limits=limits)
        assert (failed.type, failed.transient) == (type, transient)
        assert failed.message.startswith(f"GET {server.url}{path}")
        assert failed.message.endswith(message)
        await _nothing_left(server)
        assert len(server.heard) == (11 if path == "/round" else 1)


@pytest.mark.parametrize(
    ("said", "type", "message"),
    [
        pytest.param(
            answer(b"x", Content_Type="text/plain; charset=klingon"), "http_charset",
            "the charset 'klingon' of the body is unknown", id="a charset nobody knows",
        ),
        pytest.param(
            answer(b"x", Content_Type="text/plain; charset=unicode_escape"), "http_charset",
            "the charset 'unicode_escape' of the body is unknown", id="a codec that is no charset",
        ),
        pytest.param(
            answer(b"ab\xff", Content_Type="text/plain"), "http_charset",
            "the body is not valid utf-8 at byte 2; 'artifact_above_bytes: 0' stores it unchanged", id="no text",
        ),
        pytest.param(
            answer(b"{", Content_Type="application/json"), "http_json",
            "the body is not valid JSON: Input data was truncated", id="half a JSON",
        ),
        pytest.param(
            answer(b"[" * 100_000, Content_Type="application/json"), "http_json",
            "the body is not valid JSON: maximum recursion depth exceeded while deserializing an object",
            id="JSON too deep",
        ),
        pytest.param(
            answer(b"x", Content_Encoding="br"), "http_encoding",
            "the encoding 'br' of the body is not supported", id="packed in a way nobody asked for",
        ),
        pytest.param(
            answer(b"nonsense", Content_Encoding="gzip"), "http_encoding",
            "the body cannot be decompressed: Error -3 while decompressing data: incorrect header check",
            id="not packed",
        ),
        pytest.param(
            answer(b"\x1f\x8b\x08", Content_Encoding="gzip"), "http_encoding",
            "the compressed body is incomplete", id="half of what was packed",
        ),
        pytest.param(b"SSH-2.0-OpenSSH\r\n\r\n", "http_network", "", id="no HTTP"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "http_network", "", id="less than no length"),
    ],
)  # fmt: skip
async def test_answers_that_are_not_what_they_say(said: bytes, type: str, message: str) -> None:
    async with evil_server() as server, caller() as project:
        failed = await project.fails(server.says("/x", said))
        assert failed.type == type
        assert failed.message.endswith(message)
        await server.quiet()


async def test_a_large_header_is_refused_by_its_limit() -> None:
    async with evil_server() as server, caller() as project:
        failed = await project.fails(server.says("/x", answer(b"", X="y" * 2000)), limits={"header_bytes": 1000})
        assert failed.message.endswith("the headers are larger than 1000 bytes (limits.header_bytes)")


async def test_a_server_that_is_not_there_passes() -> None:
    async with evil_server() as server:
        url = server.url
    async with caller() as project:
        failed = await project.fails(url + "/x", attempts=2)
        assert (failed.type, failed.transient, len(project.clock.slept)) == ("http_network", True, 0)


async def test_a_name_that_nobody_knows_passes() -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    async with caller(resolver=unknown) as project:
        failed = await project.fails("http://name.example/")
        assert (failed.type, failed.transient) == ("http_network", True)
        assert failed.message.endswith("'name.example' cannot be resolved: no such name")


async def test_a_resolver_that_hangs_is_left_behind() -> None:
    def hanging(host: str, port: int) -> list[str]:
        time.sleep(0.5)
        return []

    async with caller(resolver=hanging) as project:
        failed = await project.fails("http://name.example/", limits={"connect_ms": 50})
        assert failed.message.endswith("could not connect within 50 ms (limits.connect_ms)")


@pytest.mark.parametrize("path", ["/slow-drip", "/silence", "/endless-body", "/slow-headers"])
async def test_stopping_a_task_stops_its_call_within_a_second(path: str) -> None:
    async with evil_server() as server:
        executor, answers = Executor(), list[TaskResult]()
        implementation: JsonObject = {"url": server.url + path, "limits": {"body_bytes": 2**40}}
        task = Task((Step(Action("http", implementation), ref="call"),))
        effect = StartTask(TokenId(1), "n", 1, 1, {})
        executor.start(RunId("r"), effect, task, Library(settings=LOOPBACK), lambda: None, unheard, answers.append)
        async with asyncio.timeout(5):
            while not server.busy:
                await asyncio.sleep(0.005)
        begun = time.monotonic()
        executor.stop(RunId("r"), StopTask(TokenId(1), 1))
        await _nothing_left(server)
        assert time.monotonic() - begun < 1
        await executor.close(0)
        assert answers == []


async def test_cancelling_a_run_stops_its_call_within_a_second(tmp_path: Path) -> None:
    async with evil_server() as server, jeton.open(tmp_path / "runs.db", grace_s=0) as engine:
        action: Json = {"kind": "http", "implementation": {"url": server.url + "/slow-drip"}}
        workflow: Json = {"initial_node": "a", "nodes": {"a": {"action": action}}}
        await engine.deploy({"workflows": {"w": workflow}, "project": {"settings": LOOPBACK}})
        run = await engine.start("w")
        async with asyncio.timeout(5):
            while not server.busy:
                await asyncio.sleep(0.005)
        begun = time.monotonic()
        await run.cancel()
        await _nothing_left(server)
        assert time.monotonic() - begun < 1
        assert (await run.result()).status == "cancelled"


async def test_many_calls_that_end_badly_leave_nothing() -> None:
    async with evil_server() as server, caller() as project:
        urls = [server.url + path for path in ("/half", "/hang-up", "/endless-body", "/gzip-bomb") * 5]
        await asyncio.gather(*(project.call(url, limits={"body_bytes": 70_000}) for url in urls))
        await _nothing_left(server)


async def _nothing_left(server: EvilServer) -> None:
    """Every connection that carried a broken answer is closed."""
    await server.quiet()
    async with asyncio.timeout(2):
        while server.open:
            await asyncio.sleep(0.005)
