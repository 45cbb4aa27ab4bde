"""A background answer whose process ends: the next owner of the store fetches the same response."""

import asyncio
from pathlib import Path

import pytest

import jeton
from jeton.model.json import JsonObject
from tests.executor.models.wire_protocols import Answer
from tests.executor.models.wire_server import serving


async def test_the_id_of_a_response_is_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JETON_WIRE_KEY", "sk-do-not-tell-anyone")
    async with serving(Answer("made once"), Answer("paid twice")) as server:
        profile: JsonObject = {
            "provider": "openai_responses",
            "model": "gpt-4.1",
            "base_url": server.url("openai_responses"),
            "api_key": {"secret": "key"},
            "background": True,
        }
        ask: JsonObject = {"kind": "llm", "implementation": {"model_profile": "main", "prompt": "Say it."}}
        node: JsonObject = {"action": ask, "output_mapping": {"output.said": "result.text"}}
        library: JsonObject = {
            "project": {"settings": {"secrets": {"key": {"env": "JETON_WIRE_KEY"}}}},
            "model_profiles": {"main": profile},
            "workflows": {"w": {"initial_node": "a", "nodes": {"a": node}}},
        }
        async with jeton.open(tmp_path / "store.db", grace_s=0) as engine:
            await engine.deploy(library)
            run = (await engine.start("w", {})).id
            while len(server.seen) < 2:  # created, and asked for once
                await asyncio.sleep(0.01)
        async with jeton.open(tmp_path / "store.db") as engine:
            record = await (await engine.run(run)).result()
        assert (record.status, record.output) == ("completed", {"said": "made once"}), record.error
        assert [seen.path for seen in server.seen].count("/v1/responses") == 1
