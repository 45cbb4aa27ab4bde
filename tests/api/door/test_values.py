"""Whatever stands in a body, a path or a parameter has a defined answer, which is never a defect of the server."""

import asyncio
from collections.abc import Generator
from typing import NamedTuple
from urllib.parse import quote

import pytest

from jeton.api.routes.table import ROUTES
from jeton.model.json import JsonObject
from tests.api.server import Reply, Running, serving_in_thread


class Case(NamedTuple):
    server: Running
    key: str

    async def ask(self, method: str, path: str, body: object = None) -> Reply:
        """Ask with the key, and again while the server says that these many requests come too fast."""
        while (reply := await self.server.ask(method, path, body, key=self.key)).status == 429:
            await asyncio.sleep(0.1)
        return reply


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Generator[Case, None, None]:
    with serving_in_thread(tmp_path_factory.mktemp("values") / "store.db") as server:
        assert server.key is not None
        yield Case(server, server.key)


START = '{"workflow": "heard", "input": %s}'
BODIES = {
    "depth 100,000": "[" * 100_000 + "]" * 100_000,
    "objects of depth 100,000": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "depth 101": "[" * 101 + "]" * 101,
    "a name twice": '{"a": 1, "a": 2}',
    "a name twice, written differently": '{"a": 1, "\\u0061": 2}',
    "NaN": "NaN",
    "Infinity": "-Infinity",
    "1e999": "1e999",
    "5,000 digits": "9" * 5_000,
    "beyond 64 bits": str(2**64),
    "half a character": '"\\ud800"',
    "half a character as a name": '{"\\udc00": 1}',
    "no JSON": "{",
    "two values": "{} {}",
    "a comment": "{} // x",
    "single quotes": "{'a': 1}",
    "a trailing comma": "[1,]",
    "a control character": '"\x01"',
}


@pytest.mark.parametrize("name", BODIES)
async def test_json_that_is_none_is_refused_wherever_it_stands(case: Case, name: str) -> None:
    for body in (BODIES[name], START % BODIES[name]):
        reply = await case.ask("POST", "/v1/runs", body.encode())
        assert (reply.status, reply.code) == (400, "bad_json")
        for path in ("/v1/session", "/v1/gates/x/answer", "/v1/queries/x"):
            method = "PUT" if "queries" in path else "POST"
            assert (await case.ask(method, path, body.encode())).status == 400
        assert (await case.server.ask("POST", "/hooks/open", body.encode())).status in (400, 422)


@pytest.mark.parametrize("body", [b"\xff", b"\xed\xa0\x80", b'"\xc0\x80"', "{}".encode("utf-16"), b"\xef\xbb\xbf{"])
async def test_what_is_no_utf8_is_refused(case: Case, body: bytes) -> None:
    assert (await case.ask("POST", "/v1/runs", body)).code == "bad_json"
    assert (await case.server.ask("POST", "/hooks/open", body)).status in (400, 422)


async def test_a_nul_is_a_character_of_a_text(case: Case) -> None:
    body = {"workflow": "heard", "input": {"n": "a\0b"}}
    reply = await case.ask("POST", "/v1/runs?wait_ms=5000", body)
    assert (reply.status, reply.json["output"]) == (201, {"n": "a\0b"})


async def test_every_problem_of_a_body_is_told_at_once(case: Case) -> None:
    body: JsonObject = {"workflow": 7, "inputs": {}, "credits": "many"}
    reply = await case.ask("POST", "/v1/runs", body)
    assert (reply.status, reply.code) == (400, "bad_argument")
    assert len(reply.json["problems"]) >= 3


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
async def test_a_body_of_another_type_is_refused(case: Case, kind: str) -> None:
    """Forms of other pages can send these types, and no other."""
    headers = [("Content-Type", kind)]
    reply = await case.server.ask("POST", "/v1/runs", b'{"workflow": "double"}', key=case.key, headers=headers)
    assert (reply.status, reply.code) == (415, "not_json")


IDS = {
    "empty": "",
    "dots": "..",
    "a dot": ".",
    "of 10 kB": "x" * 7_000,
    "with a slash": "a/b",
    "with a NUL": "a\0b",
    "from right to left": "\u202eabc",
    "an emoji": "🦊",
    "of several characters": "👩‍👩‍👧",
    "composed": "é",
    "decomposed": "e\u0301",
    "a homoglyph": "doublе",
    "of a prototype": "__proto__",
    "SQL": "x' or '1'='1",
    "SQL with a comment": '"; drop table runs; --',
    "a format": "%s%n{0}",
    "a line": "a\r\nSet-Cookie: x=y",
    "of markup": "<script>alert(1)</script>",
    "a number": "9" * 40,
    "half an escape": "%",
}


@pytest.mark.parametrize("name", IDS)
async def test_an_id_that_nothing_has_is_not_found_wherever_it_stands(case: Case, name: str) -> None:
    part = quote(IDS[name], safe="")
    for route in ROUTES:
        if "{" not in route.path or route.name in ("save_query", "list_firings"):  # a trigger may be gone, with firings
            continue
        path = "/".join(part if each.startswith("{") else each for each in route.path.split("/"))
        body: JsonObject | None = None if route.body is None else {}
        reply = await case.ask(route.method, path, body)
        assert 400 <= reply.status < 500, (route.name, reply.body)
        assert reply.code is not None
        assert "set-cookie" not in reply.headers


@pytest.mark.parametrize("name", IDS)
async def test_an_odd_name_is_taken_or_refused_and_breaks_nothing(case: Case, name: str) -> None:
    text = IDS[name]
    starts = {"workflow": text}, {"workflow": "heard", "input": {"n": text}, "key": text}
    for body in starts:
        assert (await case.ask("POST", "/v1/runs", body)).status < 500
    run = (await case.ask("POST", "/v1/runs", {"workflow": "hold"})).json["run_id"]
    for path, sent in (("signal", {"name": text, "value": text}), ("cancel", {"reason": text})):
        assert (await case.ask("POST", f"/v1/runs/{run}/{path}", sent)).status < 500
    key = {"name": text, "scopes": ["read"], "person": text}
    made = await case.ask("POST", "/v1/keys", key)
    assert made.status in (201, 400)
    query = await case.ask("PUT", f"/v1/queries/{quote(text, safe='')}", {"q": text})
    assert query.status < 500
    assert (await case.ask("GET", "/v1/queries")).status == 200


PARAMETERS = (
    "limit",
    "after",
    "run",
    "workflow",
    "status",
    "q",
    "since",
    "until",
    "wait_ms",
    "at",
    "token",
    "transition",
)
ODD = ("", "-1", "0", "1e3", "9" * 30, "nan", "%00", "%ff", "x", "1'--", "%F0%9F%A6%8A", "true", "[]", "1,2")


async def test_odd_parameters_are_refused_or_mean_something(case: Case) -> None:
    for route in ROUTES:
        if route.method != "GET" or route.name == "stream":
            continue
        path = "/".join("x1" if each.startswith("{") else each for each in route.path.split("/"))
        known = [name for name in PARAMETERS if name in route.query.__struct_fields__]
        for name in (*known, "nothing"):
            for value in ODD[:6] if name == "nothing" else ODD:
                reply = await case.ask("GET", f"{path}?{name}={value}")
                assert reply.status < 500, (route.name, name, value, reply.body)
                if name == "nothing":
                    assert (reply.status, reply.code) == (400, "bad_argument"), route.name
