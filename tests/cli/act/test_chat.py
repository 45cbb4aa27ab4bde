"""`jeton chat`: keys, what it exits with, and what it does with texts nobody should send."""

from pathlib import Path

import msgspec
import pytest

from jeton.model.json import JsonObject
from tests.cli.served import both
from tests.cli.verbs import Verbs

AGENT: JsonObject = {
    "model_profiles": {
        "fake": {
            "provider": "scripted",
            "script": [
                {"when": "message == 'fail'", "error": "it is down"},
                {"when": "message == 'pay' && moves == 0", "tool_calls": [{"name": "pay", "input": {}}]},
                {"when": "message == 'pay'", "text": "Paid."},
                {"text": "One."},
                {"text": "Two."},
            ],
        }
    },
    "tasks": {"t": {"steps": [{"ref": "a", "action": {"kind": "mock", "implementation": {"output": {"v": 1}}}}]}},
    "tools": {"pay": {"description": "Pays.", "task": "t", "needs_approval": True}},
    "personas": {"helper": {"instructions": "Help.", "model_profile": "fake", "tools": ["pay"]}},
    "agents": {"bob": {"persona": "helper"}},
}


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "agent.json"
    path.write_bytes(msgspec.json.encode(AGENT))
    return str(path)


def said(jeton: Verbs, file: str, *messages: str, key: str = "k", exits: int = 0) -> list[list[str]]:
    options = [part for text in messages for part in ("--message", text)]
    found = jeton.json("chat", file, "bob", "--key", key, "--wait", "20", *options, exits=exits)
    return [turn["replies"] for turn in found["turns"]]


@both
def test_the_same_command_with_the_same_key_goes_on_where_it_was(jeton: Verbs, file: str) -> None:
    assert said(jeton, file, "hi", "you?") == [["One."], ["Two."]]
    assert said(jeton, file, "hi", "you?") == [["One."], ["Two."]]


def test_another_message_under_the_same_key_is_said_in_the_same_conversation(jeton: Verbs, file: str) -> None:
    assert said(jeton, file, "hi") == [["One."]]
    assert said(jeton, file, "and you?") == [["Two."]]


@both
def test_what_it_exits_with(jeton: Verbs, file: str) -> None:
    assert said(jeton, file, "fail", exits=1) == [[]]
    found = jeton.json("chat", file, "bob", "--key", "p", "--wait", "0.5", "--message", "pay", exits=4)
    (turn,) = found["turns"]
    assert [wait["kind"] for wait in turn["waiting_for"]] == ["gate"]
    gate = jeton.json("gates", found["conversation_id"])["gates"][0]["id"]
    jeton.json("answer", found["conversation_id"], "--gate", gate, "--value", '{"decision": "approve"}')
    assert said(jeton, file, "pay", key="p") == [["Paid."]]


@both
def test_a_text_that_is_no_text_is_refused(jeton: Verbs, file: str) -> None:
    found = jeton.json("chat", file, "bob", "--key", "k", "--message", "bad \udcff", exits=2)
    assert "unpaired surrogate" in found["problem"]
