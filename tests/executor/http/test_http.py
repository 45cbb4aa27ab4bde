"""`http`: what is sent, and what comes of it."""

import gzip
import re
import zlib
from pathlib import Path

import msgspec
import pytest
import yaml

from jeton.executor import check_implementation
from jeton.executor.artifacts import Artifacts
from jeton.executor.http.response import retry_after_ms
from jeton.model.definition.task import Action
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from tests.executor.http.evil_server import answer, evil_server, json_answer
from tests.executor.http.given import Caller, caller

OK = json_answer({"ok": 1})


@pytest.mark.parametrize(
    ("implementation", "input", "target"),
    [
        pytest.param({"url": "/items/{id}"}, {"id": "7"}, "/items/7", id="a name in the path"),
        pytest.param({"url": "/items/{id}"}, {"id": 7}, "/items/7", id="a number"),
        pytest.param({"url": "/items/{a.b}"}, {"a": {"b": True}}, "/items/true", id="something further in"),
        pytest.param({"url": "/{id}"}, {"id": "a/b?c#d%2e"}, "/a%2Fb%3Fc%23d%252e", id="nothing in it means anything"),
        pytest.param({"url": "/{id}"}, {"id": "@evil.example/é"}, "/%40evil.example%2F%C3%A9", id="nor moves the host"),
        pytest.param({"url": "/{{id}}"}, {}, "/%7Bid%7D", id="doubled braces stand for themselves"),
        pytest.param({"url": "/{id}"}, {"id": "{name}", "name": "x"}, "/%7Bname%7D", id="one pass only"),
        pytest.param({"url": "/s?q={q}"}, {"q": "a&b=c"}, "/s?q=a%26b%3Dc", id="a name in the query of the url"),
        pytest.param(
            {"url": "/s", "query": {"q": "{q}", "page": 2, "none": None}},
            {"q": "a&b"},
            "/s?q=a%26b&page=2",
            id="a query; null is left out",
        ),
        pytest.param({"url": "/s?a=1", "query": {"b": ["x", "{y}"]}}, {"y": 3}, "/s?a=1&b=x&b=3", id="several values"),
    ],
)
async def test_the_address_that_is_asked_for(implementation: JsonObject, input: JsonObject, target: str) -> None:
    async with evil_server() as server, caller() as project:
        server.says(target.partition("?")[0], OK)
        url = server.url + str(implementation["url"])
        await project.run(Action("http", {**implementation, "url": url}), input)
        assert server.heard[0].target == target


@pytest.mark.parametrize(
    ("url", "input", "message"),
    [
        pytest.param("/{id}", {}, "'{id}' needs 'id', which the input lacks", id="nothing there"),
        pytest.param("/{a.b}", {"a": 1}, "'{a.b}' needs 'a.b', which the input lacks", id="nothing inside"),
        pytest.param(
            "/{id}",
            {"id": None},
            "'{id}' must be a string, a number or a boolean, and the input has null",
            id="no text can be made of it",
        ),
        pytest.param("/a/{id}", {"id": ".."}, "url: '{id}' becomes '..', which is not a path segment", id="a way up"),
        pytest.param(
            "/a/.{id}", {"id": "."}, "url: '.{id}' becomes '..', which is not a path segment", id="in two parts"
        ),
        pytest.param("/a/{id}", {"id": ""}, "url: '{id}' becomes '', which is not a path segment", id="nothing at all"),
    ],
)
async def test_input_that_does_not_fit_is_never_sent(url: str, input: JsonObject, message: str) -> None:
    async with evil_server() as server, caller() as project:
        assert await project.call(server.url + url, input) == TaskFailed("input_invalid", message, "call")
        assert server.heard == []


async def test_what_is_sent() -> None:
    async with evil_server() as server, caller() as project:
        await project.gives(
            server.url + "/echo",
            {"name": "Ann", "tags": ["a"], "nested": {"x": [1]}},
            method="POST",
            headers={"X-Name": "to {name}", "Accept": "application/json"},
            json={"who": "{name}", "greeting": "hello {name}", "tags": "{tags}", "n": 3, "all": ["{nested}"]},
        )
        heard = server.heard[0]
        assert heard.method == "POST"
        assert msgspec.json.decode(heard.body) == {
            "who": "Ann", "greeting": "hello Ann", "tags": ["a"], "n": 3, "all": [{"x": [1]}],
        }  # fmt: skip
        assert heard.headers == {
            "host": f"127.0.0.1:{server.port}",
            "accept": "application/json",
            "accept-encoding": "gzip, deflate",
            "content-length": str(len(heard.body)),
            "content-type": "application/json",
            "idempotency-key": "r1:7:1:call",
            "user-agent": "jeton",
            "x-name": "to Ann",
        }


async def test_text_is_sent_as_it_is() -> None:
    async with evil_server() as server, caller() as project:
        await project.gives(server.url + "/echo", {"a": "é"}, method="PUT", text='{"a": "{a}"}')
        assert server.heard[0].body.decode() == '{"a": "é"}'
        assert server.heard[0].headers["content-type"] == "text/plain; charset=utf-8"


async def test_input_cannot_add_a_header() -> None:
    async with evil_server() as server, caller() as project:
        failed = await project.fails(server.url + "/echo", {"a": "x\r\nEvil: 1"}, headers={"X-A": "{a}"})
        assert (failed.type, server.heard) == ("input_invalid", [])


@pytest.mark.parametrize(
    ("said", "then"),
    [
        pytest.param(json_answer({"a": [1]}), {"json": {"a": [1]}}, id="JSON"),
        pytest.param(answer(b'"x"', Content_Type="application/problem+json; charset=utf-8"), {"json": "x"}, id="+json"),
        pytest.param(answer("é".encode(), Content_Type="text/plain"), {"text": "é"}, id="text"),
        pytest.param(answer(b"\xe9", Content_Type='text/plain; charset="ISO-8859-1"'), {"text": "é"}, id="a charset"),
        pytest.param(answer(), {"text": ""}, id="nothing"),
        pytest.param(answer(b"", Content_Type="application/json"), {"text": ""}, id="nothing, said to be JSON"),
        pytest.param(
            answer(gzip.compress(b"ab") + gzip.compress(b"c"), Content_Encoding="gzip"), {"text": "abc"}, id="packed"
        ),
        pytest.param(answer(zlib.compress(b"abc"), Content_Encoding="deflate"), {"text": "abc"}, id="deflated"),
        pytest.param(
            answer(zlib.compress(b"abc")[2:-4], Content_Encoding="deflate"),
            {"text": "abc"},
            id="deflated without header",
        ),
    ],
)
async def test_the_body_of_a_result(said: bytes, then: JsonObject) -> None:
    async with evil_server() as server, caller() as project:
        given = await project.gives(server.says("/x", said))
        del given["headers"]
        assert given == {"status": 200, **then}


async def test_headers_of_a_result_are_in_small_letters_and_each_is_one() -> None:
    said = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 0\r\n\r\n"
    async with evil_server() as server, caller() as project:
        assert (await project.gives(server.says("/x", said)))["headers"] == {"x-a": "1, 2", "content-length": "0"}


@pytest.mark.parametrize(
    ("status", "transient"),
    [
        pytest.param("404 Not Found", False, id="no such thing is a business failure"),
        pytest.param("408 Request Timeout", False, id="so is any other 4xx"),
        pytest.param("429 Too Many Requests", True, id="too many passes"),
        pytest.param("500 Internal Server Error", True, id="an error there passes"),
        pytest.param("503 Service Unavailable", True, id="so does a server that is away"),
    ],
)
async def test_a_status_that_is_a_failure(status: str, transient: bool) -> None:
    async with evil_server() as server, caller() as project:
        url = server.says("/x", answer(b"because\r\n  of \x1b[31mthis", status))
        message = f"GET {url} returned {status}: because of [31mthis"
        assert await project.call(url + "?a=1") == TaskFailed("http_status", message, "call", transient)
        given = await project.gives(url, allow_status=[int(status[:3])])
        assert given["status"] == int(status[:3])


async def test_5xx_then_success_is_one_step() -> None:
    async with evil_server() as server, caller() as project:
        url = server.says("/x", answer(b"", "503 Service Unavailable"), answer(b"", "502 Bad Gateway"), OK)
        assert (await project.gives(url, attempts=3))["json"] == {"ok": 1}
        assert {heard.headers["idempotency-key"] for heard in server.heard} == {"r1:7:1:call"}
        assert len(server.heard) == 3


async def test_retry_after_is_honoured() -> None:
    async with evil_server() as server, caller() as project:
        url = server.says("/x", answer(b"", "429 Too Many Requests", Retry_After="7"), OK)
        assert (await project.gives(url, attempts=2))["json"] == {"ok": 1}
        assert project.clock.slept == [7000]


async def test_nobody_waits_longer_than_the_limit() -> None:
    async with evil_server() as server, caller() as project:
        url = server.says("/x", answer(b"", "429 Too Many Requests", Retry_After="3600"), OK)
        failed = await project.fails(url, attempts=2)
        assert (failed.transient, project.clock.slept) == (False, [])
        assert "Retry-After is 3600000 ms, more than limits.retry_after_ms (60000)" in failed.message


@pytest.mark.parametrize(
    ("value", "then"),
    [
        pytest.param("120", 120_000, id="seconds"),
        pytest.param("Thu, 01 Jan 1970 00:00:30 GMT", 20_000, id="a date"),
        pytest.param("Thu, 01 Jan 1970 00:00:01 GMT", 0, id="a date gone by"),
        pytest.param("soon", None, id="neither"),
        pytest.param("-1", None, id="less than nothing"),
        pytest.param(None, None, id="not said"),
    ],
)
def test_reading_retry_after(value: str | None, then: int | None) -> None:
    assert retry_after_ms(value, now=10.0) == then


@pytest.mark.parametrize(
    ("size", "above", "artifact"),
    [
        pytest.param(100, 100, False, id="up to the size it is a result"),
        pytest.param(101, 100, True, id="above it is an artifact"),
        pytest.param(1, 0, True, id="0 keeps everything"),
        pytest.param(0, 0, False, id="but nothing is nothing"),
    ],
)
async def test_a_large_body_becomes_an_artifact(tmp_path: Path, size: int, above: int, artifact: bool) -> None:
    async with evil_server() as server, caller() as project:
        artifacts = Artifacts(tmp_path)
        project = Caller(
            msgspec.structs.replace(project.resources, artifacts=artifacts), project.clock, project.settings
        )
        url = server.says("/x", answer(b"x" * size, Content_Type="text/plain"))
        given = await project.gives(url, artifact_above_bytes=above)
        assert ("artifact" in given) == artifact
        if artifact:
            kept = given["artifact"]
            assert isinstance(kept, dict)
            assert (kept["media_type"], kept["size"]) == ("text/plain", size)
            assert (await artifacts.read(RunId("r1"), str(kept["id"]), 1000))[1] == b"x" * size


async def test_an_artifact_that_breaks_off_is_not_kept(tmp_path: Path) -> None:
    async with evil_server() as server, caller() as project:
        resources = msgspec.structs.replace(project.resources, artifacts=Artifacts(tmp_path))
        project = Caller(resources, project.clock, project.settings)
        failed = await project.fails(server.url + "/half", artifact_above_bytes=0)
        assert failed.type == "http_network"
        failed = await project.fails(
            server.url + "/endless-body", artifact_above_bytes=0, limits={"artifact_bytes": 100_000}
        )
        assert failed.message.endswith("the body is larger than 100000 bytes (limits.artifact_bytes)")
        assert list(tmp_path.iterdir()) == []


async def test_connections_are_used_again() -> None:
    async with evil_server() as server, caller() as project:
        url = server.says("/x", OK)
        for _ in range(5):
            await project.gives(url)
        assert len(server.open) == 1


@pytest.mark.parametrize(
    ("implementation", "path"),
    [
        pytest.param({"url": "ftp://host/"}, "url", id="no http"),
        pytest.param({"url": "/path"}, "url", id="no host"),
        pytest.param({"url": "https://{host}/"}, "url", id="input would choose the host"),
        pytest.param({"url": "https://api.{zone}/x"}, "url", id="or a part of it"),
        pytest.param({"url": "{url}"}, "url", id="or everything"),
        pytest.param({"url": "https://{host}/", "hosts": ["host"]}, "url", id="a part of the host, even with a list"),
        pytest.param({"url": "https://host/", "hosts": ["host"]}, "hosts", id="a list of hosts beside a fixed url"),
        pytest.param({"url": "{url}", "hosts": ["https://host/"]}, "hosts[0]", id="a url where a host belongs"),
        pytest.param({"url": "https://host:{port}/"}, "url", id="or the port"),
        pytest.param({"url": "https://user:pass@host/"}, "url", id="credentials in the url"),
        pytest.param({"url": "https://host/a/../b"}, "url", id="a way up"),
        pytest.param({"url": "https://host/#x"}, "url", id="a fragment"),
        pytest.param({"url": "https://host/a b"}, "url", id="a space"),
        pytest.param({"url": "https://host\\@evil/"}, "url", id="a backslash"),
        pytest.param({"url": "https://host/", "method": "CONNECT"}, "method", id="a method that is none of ours"),
        pytest.param({"url": "https://host/", "json": 1, "text": "x"}, "", id="two bodies"),
        pytest.param({"url": "https://host/", "headers": {"Host": "evil"}}, "headers.Host", id="a header of ours"),
        pytest.param({"url": "https://host/", "headers": {"a b": "x"}}, "headers.a b", id="no header"),
        pytest.param({"url": "https://host/", "redirects": True}, "redirects", id="redirects to anywhere"),
        pytest.param({"url": "https://host/", "auth": {}}, "auth", id="no credentials"),
        pytest.param({"url": "https://host/", "limits": {"total_ms": 0}}, "limits.total_ms", id="no time"),
        pytest.param({"url": "https://host/", "verify": False}, "", id="something unknown"),
    ],
)
def test_implementations_that_are_refused(implementation: dict[str, Json], path: str) -> None:
    flaws = check_implementation(Action("http", implementation))
    assert [flaw.path for flaw in flaws] == [path]


async def test_what_nobody_checked_is_refused_when_it_is_run() -> None:
    async with caller() as project:
        failed = await project.fails("http://{host}/", {"host": "127.0.0.1"})
        assert (failed.type, failed.message) == ("bad_implementation", "http: url has a host that is not fixed")


@pytest.mark.parametrize("page", ["actions/http.md", "how-to/secrets.md"])
def test_the_examples_of_its_pages_can_be_loaded(page: str) -> None:
    text = (Path(__file__).parents[3] / "docs" / page).read_text()
    for example in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
        for name, written in yaml.safe_load(example).get("actions", {}).items():
            assert check_implementation(msgspec.convert(written, Action)) == (), name
