"""The examples of docs/how-to/sinks.md, as a reader would try them."""

import asyncio
import base64
import hashlib
import hmac
import json
import re
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.telemetry.sinks.follow import follow_sinks
from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs" / "how-to" / "sinks.md").read_text()
SECRET = b"the-secret-of-the-page"


def block(language: str) -> str:
    return str(re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[0])


def said_nothing(*said: object) -> None:
    """Log nothing."""


async def test_the_receiver_takes_what_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUDIT_SECRET", SECRET.decode())
    seen: dict[str, Any] = {}
    names: dict[str, Any] = {
        "BaseHTTPRequestHandler": BaseHTTPRequestHandler,
        "SECRET": SECRET, "base64": base64, "hashlib": hashlib, "hmac": hmac, "json": json, "seen": seen, "time": time,
    }  # fmt: skip
    exec(block("python"), names)
    quiet: Any = type("Quiet", (names["Hooks"],), {"log_message": said_nothing})
    receiver = ThreadingHTTPServer(("127.0.0.1", 0), quiet)
    thread = threading.Thread(target=receiver.serve_forever)
    thread.start()
    library = tmp_path / "library.yaml"
    address = f"http://127.0.0.1:{receiver.server_port}/hooks/jeton"
    text = block("yaml").replace("https://audit.example.com/hooks/jeton", address)
    library.write_text(f"{text}    http: {{allow: [127.0.0.1]}}\n")
    try:
        async with jeton.open(tmp_path / "s.db") as engine:
            await engine.deploy(str(library))
            run = await engine.start("order")
            await run.result(20)
            sending = asyncio.create_task(follow_sinks(engine, lambda sink, outcome: None))
            async with asyncio.timeout(20):
                while not seen:
                    await asyncio.sleep(0.01)
            sending.cancel()
            with suppress(asyncio.CancelledError):
                await sending
    finally:
        await asyncio.to_thread(receiver.shutdown)
        receiver.server_close()
        thread.join()
    [(name, body)] = seen.items()
    shown = json.loads(block("json"))
    assert (body["type"], body["data"]["workflow"]) == (shown["type"], shown["data"]["workflow"])
    assert body["data"]["pos"] == name
    assert body["data"]["event"]["run_id"] == run.id
    assert set(body) == set(shown)
    assert set(body["data"]) == set(shown["data"])
    assert re.fullmatch(r"p[0-9a-f]+-[0-9a-f]+-[0-9a-f]{8}", shown["data"]["pos"])
