"""Conversations over HTTP: begun, spoken in, and stopped."""

from typing import Any

import httpx2
import pytest
from click.testing import CliRunner

from jeton.cli.main import main
from jeton.model.json import JsonObject
from tests.api.listed import Server, code, ok

TALK: JsonObject = {
    "model_profiles": {
        "shy": {"provider": "scripted", "script": [{"tool_calls": [{"name": "pay", "input": {}}]}, {"text": "done"}]}
    },
    "tasks": {"pay": {"steps": [{"action": {"kind": "mock", "implementation": {"output": {}}}}]}},
    "tools": {"pay": {"description": "Pay.", "task": "pay", "needs_approval": True}},
    "personas": {"payer": {"instructions": "Pay.", "model_profile": "shy", "tools": ["pay"]}},
    "agents": {"payer": {"persona": "payer"}},
}


@pytest.fixture
def waiting(server: Server, client: httpx2.Client) -> str:
    """A conversation whose first turn waits for an approval."""
    server.call(lambda engine: engine.deploy(TALK))
    talk = str(ok(client.post("/v1/agents/payer/conversations"), 201)["conversation_id"])
    ok(client.post(f"/v1/conversations/{talk}/messages", json={"text": "please"}), 202)
    server.call(lambda engine: engine.idle())
    assert [gate["node"] for gate in ok(client.get(f"/v1/gates?run={talk}"))["gates"]] == ["tool:pay"]
    return talk


def test_a_turn_is_stopped_and_the_conversation_goes_on(client: httpx2.Client, waiting: str) -> None:
    path = f"/v1/conversations/{waiting}"
    stopped: Any = ok(client.post(f"{path}/cancel", json={"turn": 1, "reason": "not now"}))
    assert [(turn["status"], turn["error"]["message"]) for turn in stopped["turns"]] == [("cancelled", "not now")]
    assert stopped["status"] == "waiting"
    assert code(client.post(f"{path}/cancel", json={"turn": 1})) == (409, "run_ended")
    assert ok(client.post(f"{path}/messages", json={"text": "again"}), 202) == {"turn": 2}


def test_a_turn_is_stopped_by_the_command_line_at_a_server(
    server: Server, waiting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JETON_KEY", server.key)
    done = CliRunner().invoke(main, ["cancel", waiting, "--turn", "1", "--reason", "no", "--url", server.url])
    assert done.exit_code == 0, done.output
