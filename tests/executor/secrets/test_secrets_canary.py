"""A whole run around a secret: nothing that is written, told or shown has it."""

import logging
import os
from pathlib import Path

import pytest

import jeton
from jeton.model.json import Json, JsonObject
from tests.executor.http.evil_server import answer, evil_server
from tests.executor.secrets.canary import CANARY, found_in


@jeton.action(name="canary_blurt")
async def blurt() -> dict[str, str]:
    """Gives the secret away."""
    return {"mine": os.environ["JETON_TEST_CANARY"]}


@jeton.action(name="canary_stumble")
def stumble() -> None:
    """Fails with it, in a thread."""
    raise ValueError(f"cannot log in with {os.environ['JETON_TEST_CANARY']}")


def library(url: str) -> JsonObject:
    auth: Json = {"basic": {"username": "us", "password": {"secret": "KEY"}}}
    headers: Json = {"X-Key": {"secret": "KEY"}}
    steps: list[Json] = [
        {"ref": "echo", "action": http(f"{url}/echo", auth=auth, headers=headers)},
        {"ref": "kept", "action": http(f"{url}/echo", headers=headers, artifact_above_bytes=0)},
        {"ref": "blurt", "action": "canary_blurt"},
        {"ref": "refused", "action": http(f"{url}/refused", headers=headers), "on_failure": "continue"},
        {"ref": "stumble", "action": "canary_stumble"},
    ]
    workflow: Json = {"initial_node": "a", "nodes": {"a": {"task": "all", "output_mapping": {"output.all": "result"}}}}
    settings: Json = {"http": {"allow": ["127.0.0.1"]}, "secrets": {"KEY": {"env": "JETON_TEST_CANARY"}}}
    return {"workflows": {"w": workflow}, "tasks": {"all": {"steps": steps}}, "project": {"settings": settings}}


def http(url: str, **implementation: Json) -> Json:
    return {"kind": "http", "implementation": {"url": url, **implementation}}


@pytest.mark.parametrize("steps", [pytest.param(4, id="a run that completes"), pytest.param(5, id="a run that fails")])
async def test_nothing_a_run_leaves_has_the_secret(
    steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("JETON_TEST_CANARY", CANARY)
    caplog.set_level(logging.DEBUG)
    async with evil_server() as server, jeton.open(tmp_path / "runs.db", grace_s=0) as engine:
        server.says("/refused", answer(f"no, {CANARY}".encode(), "403 Forbidden"))
        definitions = library(server.url)
        tasks = definitions["tasks"]
        assert isinstance(tasks, dict)
        assert isinstance(tasks["all"], dict)
        assert isinstance(tasks["all"]["steps"], list)
        del tasks["all"]["steps"][steps:]
        await engine.deploy(definitions)
        run = await engine.start("w")
        record = await run.result()
        events = [repr(event) async for event in engine.events(run.id, trace=True)]
        assert record.status == ("completed" if steps == 4 else "failed")
        assert [heard.headers["x-key"] for heard in server.heard] == [CANARY] * 3
        assert list(found_in(tmp_path)) == []
    assert list(found_in(tmp_path)) == []
    told = "\n".join((repr(record), *events, caplog.text))
    assert CANARY not in told
    assert "[secret KEY]" in told
