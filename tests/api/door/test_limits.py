"""How much of a request is taken: of its URL, its headers and its body, before and after a key was shown."""

import asyncio
import resource
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from jeton.api import app
from jeton.api.door import bodies
from jeton.api.serving import protocol
from tests.api.server import Running, add_key, read_reply, serving, serving_in_thread

KIB, MIB = 1 << 10, 1 << 20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Running, None, None]:
    with serving_in_thread(tmp_path_factory.mktemp("limits") / "store.db") as running:
        yield running


def key_of(server: Running) -> str:
    assert server.key is not None
    return server.key


async def poured(server: Running, begin: bytes, chunk: bytes, times: int) -> tuple[int, str | None, int]:
    """Send the chunk again and again until there is an answer: its status, its code, and how much was sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    reply = asyncio.ensure_future(read_reply(reader))
    writer.write(begin)
    sent = 0
    try:
        while not reply.done() and sent < times:
            writer.write(chunk)
            sent += 1
            await asyncio.sleep(0)
            await asyncio.wait_for(writer.drain(), 10)
    except ConnectionError:
        pass
    try:
        found = await asyncio.wait_for(reply, 10)
        return found.status, found.code, sent
    finally:
        writer.transport.abort()


def begin_of(server: Running) -> bytes:
    return f"GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n".encode()


async def test_a_header_of_8_mb_ends_with_431_long_before_it_was_read(server: Running) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    status, code, sent = await poured(server, begin_of(server) + b"X-Long: ", b"x" * 16 * KIB, 512)
    assert (status, code) == (431, "headers_too_large")
    assert sent < 512
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 * KIB  # of KiB each


async def test_2000_headers_end_with_431(server: Running) -> None:
    status, code, _ = await poured(server, begin_of(server), b"".join(b"a%d: b\r\n" % n for n in range(100)), 20)
    assert (status, code) == (431, "headers_too_large")


async def test_a_header_that_comes_byte_by_byte_is_bounded_too(server: Running) -> None:
    status, code, _ = await poured(server, begin_of(server) + b"X-Long: ", b"x" * 97, 1_000)
    assert (status, code) == (431, "headers_too_large")


@pytest.mark.parametrize(("extra", "status"), [(61, 200), (62, 431)])
async def test_64_headers_are_taken_and_no_more(server: Running, extra: int, status: int) -> None:
    """Beside the three that there are: Host, Authorization, and Content-Length."""
    headers = [*((f"x-{number}", "y") for number in range(extra)), ("Content-Length", "0")]
    assert (await server.ask("GET", "/v1/me", key=key_of(server), headers=headers)).status == status


@pytest.mark.parametrize(("size", "status"), [(15 * KIB, 200), (17 * KIB, 431)])
async def test_16_kib_of_headers_are_taken(server: Running, size: int, status: int) -> None:
    reply = await server.ask("GET", "/v1/me", key=key_of(server), headers=[("x-long", "y" * size)])
    assert (reply.status, reply.code) == (status, None if status == 200 else "headers_too_large")


async def test_headers_are_counted_anew_for_each_request_of_a_connection(server: Running) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    request = begin_of(server) + f"Authorization: Bearer {key_of(server)}\r\n".encode() + b"a: b\r\n" * 40 + b"\r\n"
    for _ in range(4):
        writer.write(request)
        assert (await read_reply(reader)).status == 200
    writer.close()


@pytest.mark.parametrize(
    ("size", "status", "code"), [(8 * KIB - 60, 404, "unknown_path"), (8 * KIB + 1, 414, "url_too_long")]
)
async def test_a_url_has_8_kib(server: Running, size: int, status: int, code: str) -> None:
    for path in (f"/v1/{'x' * size}", f"/v1/nothing?{'x' * (size - 11)}"):
        reply = await server.ask("GET", path, key=key_of(server))
        assert (reply.status, reply.code) == (status, code)


async def test_a_url_that_is_too_long_is_refused_to_strangers_too(server: Running) -> None:
    assert (await server.ask("GET", f"/healthz?{'x' * 9 * KIB}")).code == "url_too_long"
    status, _, sent = await poured(server, b"GET /", b"x" * 16 * KIB, 512)
    assert status in (414, 431)
    assert sent < 512


@pytest.mark.parametrize(("method", "path"), [("POST", "/v1/runs"), ("POST", "/hooks/open"), ("POST", "/v1/session")])
async def test_a_body_of_a_mebibyte_is_taken_and_not_one_of_more(server: Running, method: str, path: str) -> None:
    key = key_of(server)
    for size, refused in ((MIB, False), (MIB + 1, True)):
        body = b" " * size
        reply = await server.ask(method, path, body, key=key)
        assert (reply.code == "body_too_large") is refused
        status, code, sent = await chunked(server, method, path, body)
        assert ((status, code) == (413, "body_too_large")) is refused
        assert sent


async def chunked(server: Running, method: str, path: str, body: bytes) -> tuple[int, str | None, int]:
    """Send a body whose length is not said."""
    lines = (
        f"{method} {path} HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        f"Authorization: Bearer {key_of(server)}",
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
        "",
        f"{len(body):x}",
        "",
    )
    return await poured(server, "\r\n".join(lines).encode() + body, b"\r\n0\r\n\r\n", 1)


async def test_a_chunked_body_without_an_end_is_refused_at_its_limit(server: Running) -> None:
    begin = begin_of(server).replace(b"GET /v1/me", b"POST /v1/runs")
    begin += f"Authorization: Bearer {key_of(server)}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    status, code, sent = await poured(server, begin, chunk, 1_000)
    assert (status, code) == (413, "body_too_large")
    assert sent < 1_000


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "99999999999999999999999", "1, 2", "+1", "0x10"])
async def test_a_length_that_is_none_is_refused(server: Running, length: str) -> None:
    request = begin_of(server).replace(b"GET /v1/me", b"POST /v1/runs")
    request += f"Authorization: Bearer {key_of(server)}\r\nContent-Length: {length}\r\n\r\n".encode()
    assert (await server.send(request)).status in (400, 413)


async def test_a_request_with_two_lengths_or_a_length_and_chunks_is_refused(server: Running) -> None:
    for lines in ("Content-Length: 2\r\nContent-Length: 3", "Content-Length: 2\r\nTransfer-Encoding: chunked"):
        request = begin_of(server).replace(b"GET /v1/me", b"POST /v1/runs")
        request += f"Authorization: Bearer {key_of(server)}\r\n{lines}\r\n\r\n{{}}".encode()
        assert (await server.send(request)).status in (400, 413)


BROKEN = (
    b"hello\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
    b"GET /v1/me HTTP/1.1\r\nX: a\x00b\r\n\r\n",
    b"GET /v1/me HTTP/1.1\r\nX : a\r\n\r\n",
    b"GET /v1/m\xe9 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"FOO /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"CONNECT a:1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nnot a length\r\n",
)


async def test_what_is_no_http_is_a_problem_too(server: Running) -> None:
    for request in BROKEN:
        reply = await server.send(request)
        assert (reply.status, reply.code) == (400, "bad_argument"), request
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["x-request-id"] == reply.json["request_id"]


async def test_what_cannot_be_read_does_not_take_the_answer_of_what_came_before_it(server: Running) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(begin_of(server).replace(b"/v1/me", b"/healthz") + b"\r\n" + BROKEN[1])
    assert (await read_reply(reader)).status == 200
    assert await asyncio.wait_for(reader.read(), 10) == b"", "and the connection ends"
    writer.close()


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Sec-WebSocket-Key": None}, id="no key"),
        pytest.param({"Sec-WebSocket-Key": "short=="}, id="a key that is none"),
        pytest.param({"Sec-WebSocket-Version": "8"}, id="another version"),
        pytest.param({"Content-Length": "2"}, id="a body"),
        pytest.param({"Transfer-Encoding": "chunked"}, id="a body of no length"),
        pytest.param({"X-Long": "x" * 10_000}, id="a long line"),
        pytest.param({"Upgrade": "h2c"}, id="something else than a socket"),
    ],
)
async def test_a_handshake_that_is_none_passes_the_door_as_a_request(
    server: Running, headers: dict[str, str | None]
) -> None:
    usual: dict[str, str | None] = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }
    sent = [(name, value) for name, value in (usual | headers).items() if value is not None]
    assert (await server.ask("GET", "/v1/stream", headers=sent)).code == "key_missing"
    assert (await server.ask("GET", "/v1/stream", headers=sent, key=key_of(server))).code == "bad_argument"


async def test_a_key_of_its_own_is_made_where_the_store_has_none(server: Running) -> None:
    assert (await server.ask("GET", "/v1/me", key=key_of(server))).json["scopes"] == ["read", "run", "answer", "admin"]
    assert (await server.ask("GET", "/v1/keys", key=key_of(server))).json == {"keys": []}
    key = await add_key(server.store, "read")
    for _ in range(100):
        if (await server.ask("GET", "/v1/me", key=key)).status == 200:
            break
        await asyncio.sleep(0.02)
    assert (await server.ask("GET", "/v1/me", key=key)).json["scopes"] == ["read"]


async def test_whoever_sends_a_request_too_slowly_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_S", 0.2)
    monkeypatch.setattr(app, "BODY_S", 0.2)
    async with serving(tmp_path / "store.db") as server:
        key = key_of(server)
        for begun in (b"", b"GET /heal", begin_of(server) + b"X-Slow: "):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(begun)
            with suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(), 10) == b""
            writer.close()
        slow = await server.ask("POST", "/v1/runs", b"{", key=key, announce=100)
        assert (slow.status, slow.code) == (400, "bad_argument")
        kept, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for _ in range(2):  # one that waits between requests is kept
            writer.write(begin_of(server) + f"Authorization: Bearer {key}\r\n\r\n".encode())
            assert (await read_reply(kept)).status == 200
            await asyncio.sleep(0.4)
        writer.close()


async def test_a_client_that_goes_away_leaves_no_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(tmp_path / "store.db") as server:
        request = begin_of(server).replace(b"GET /v1/me", b"POST /v1/runs")
        request += f"Authorization: Bearer {key_of(server)}\r\nContent-Length: 100\r\n\r\n{{".encode()
        for sent in (request, begin_of(server), b"nonsense\r\n\r\n"):
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(sent)
            await asyncio.sleep(0.1)
            writer.transport.abort()
        assert (await server.upgrade("/v1/stream")).status == 401
        await asyncio.sleep(0.1)
        assert [record.getMessage() for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []


async def test_a_body_that_comes_a_byte_at_a_time_is_not_waited_for_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "BODY_S", 0.5)
    async with serving(tmp_path / "store.db") as server:
        head = f"POST /v1/session HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 1000\r\n\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(head.encode())
        answered = asyncio.ensure_future(read_reply(reader))
        for _ in range(900):  # each pause is shorter than the longest there may be
            if answered.done():
                break
            writer.write(b" ")
            await asyncio.sleep(0.05)
        writer.transport.abort()
        reply = await answered
    assert (reply.status, reply.code) == (400, "bad_argument")


async def test_bodies_that_are_under_way_are_bounded_for_each_key_and_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "MOST_OF_ONE", 100_000)
    async with serving(tmp_path / "store.db") as server:
        other = await add_key(server.store, "run", name="other")
        head = begin_of(server).replace(b"GET /v1/me", b"POST /v1/runs")
        head += f"Authorization: Bearer {key_of(server)}\r\nContent-Length: 90000\r\n\r\n".encode()
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(head + b" " * 80_000)  # the rest does not come
        large = b" " * 50_000 + b"{}"
        for _ in range(500):
            if (await server.ask("POST", "/v1/runs", large, key=key_of(server))).code == "rate_limited":
                break
            await asyncio.sleep(0.02)
        else:
            pytest.fail("the bodies of a key are not bounded")
        assert (await server.ask("POST", "/v1/runs", b"{}", key=key_of(server))).code == "bad_argument"
        for _ in range(500):
            if (await server.ask("GET", "/v1/me", key=other)).status == 200:
                break
            await asyncio.sleep(0.02)
        assert (await server.ask("POST", "/v1/runs", large, key=other)).code == "bad_argument"
        writer.transport.abort()
        for _ in range(500):
            if (await server.ask("POST", "/v1/runs", large, key=key_of(server))).code == "bad_argument":
                break
            await asyncio.sleep(0.02)
        else:
            pytest.fail("the bytes of a client that left are not given back")
