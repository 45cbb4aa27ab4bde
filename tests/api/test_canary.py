"""Keys, sessions and secrets are nowhere: not in the log, the store, events, errors or metrics."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.door.test_commands import served
from tests.api.server import HOOK_SECRET, LIBRARY, add_key
from tests.api.test_hooks import of_body

SECRET = "canary-in-the-coal-mine"


async def test_no_canary_is_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JETON_TEST_HOOK", SECRET)
    library = tmp_path / "library.json"
    library.write_text(json.dumps(LIBRARY))
    store = tmp_path / "store.db"
    key = await add_key(store, "admin", name="canary")
    said: list[str] = []
    with served(store, str(library)) as (server, process):
        asks: list[tuple[str, str, object]] = [
            ("POST", "/v1/runs?wait_ms=3000", {"workflow": "double", "input": {"n": 1}}),
            ("POST", "/v1/runs", {"workflow": key, "input": {}}),
            ("POST", "/v1/nothing", {}),
            ("POST", "/v1/runs", b"{"),
            ("GET", f"/v1/runs?q={key}", None),
            ("GET", f"/v1/runs/{key}", None),
            ("GET", "/v1/keys", None),
            ("GET", "/metrics", None),
            ("GET", "/readyz", None),
        ]
        signed_in = await server.ask("POST", "/v1/session", {"key": key})
        cookie = signed_in.headers["set-cookie"].partition(";")[0]
        for method, path, body in asks:
            sent = [("Cookie", cookie), ("Origin", server.url)]
            for reply in (
                await server.ask(method, path, body, key=key),
                await server.ask(method, path, body, headers=sent),
                await server.ask(method, path, body, key=f"{key}x"),
                await server.ask(method, path, body, headers=[("Host", "evil.example")], key=key),
            ):
                said.append(reply.body.decode() if key not in f"{path} {body!r}" else "")  # unless it was asked about
        signed = of_body("X-Jeton-Signature", b'{"n": 1}', SECRET)
        for headers in ([signed], [("X-Jeton-Signature", "sha256=00")]):
            said.append((await server.ask("POST", "/hooks/orders/paid", b'{"n": 1}', headers=headers)).body.decode())
        await server.upgrade(f"/v1/stream?key={key}")
        await server.upgrade("/v1/stream", [("Cookie", cookie), ("Origin", "http://evil.example")])
        process.terminate()
        out, log = process.communicate(timeout=20)
    stored = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and file != library)
    for canary in (key, key[13:], cookie.partition("=")[2], SECRET):
        assert canary not in log
        assert canary not in out
        assert canary.encode() not in stored
        assert not [text for text in said if canary in text]
    assert HOOK_SECRET != SECRET
    lines = [json.loads(line) for line in log.splitlines()]
    starts = [line for line in lines if line.get("route") == "start_run"]
    assert [(line["key"], line["status"]) for line in starts] == [(key[4:12], 201)] * 2
    assert all({"at", "level", "logger", "message"} <= set(line) for line in lines)
    assert all(line["request"] for line in starts)
    assert [line for line in lines if line["level"] in ("warning", "error")] == []


def test_a_key_in_a_log_line_is_cut_down_to_its_id() -> None:
    key = "jtn_abcdefgh_" + "X" * 38
    program = (
        "import logging, sys; from jeton.api.watching.logs import log_to; log_to(sys.stderr)\n"
        f"try: raise ValueError('{key}')\n"
        f"except ValueError: logging.getLogger('x').exception('with %s', '{key}')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    line = json.loads(done.stderr)
    assert "jtn_abcdefgh_…" in line["message"]
    assert "jtn_abcdefgh_…" in line["error"]
    assert "XXX" not in done.stderr
