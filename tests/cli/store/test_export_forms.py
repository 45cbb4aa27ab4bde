"""`jeton export --as`: a conversation as a script, and runs as spans."""

import json

from tests.cli.verbs import Verbs

TALK = {
    "model_profiles": {"fake": {"provider": "scripted", "script": [{"text": "Hello!"}, {"text": "Bye."}]}},
    "personas": {"helper": {"model_profile": "fake"}},
    "agents": {"bob": {"persona": "helper"}},
}


def talked(jeton: Verbs) -> str:
    jeton.library.write_text(json.dumps(TALK))
    said = jeton.json("chat", str(jeton.library), "bob", "--message", "Hi", "--message", "Thank you")
    return str(said["conversation_id"])


def test_a_conversation_as_a_script_answers_the_same(jeton: Verbs) -> None:
    talk = talked(jeton)
    recorded = json.loads(jeton("export", talk, "--as", "script").stdout)["model_profiles"]["recorded"]
    assert [entry["text"] for entry in recorded["script"]] == ["Hello!", "Bye."]
    jeton.library.write_text(json.dumps({**TALK, "model_profiles": {"fake": recorded}}))
    again = jeton.json("chat", str(jeton.library), "bob", "--message", "Hi", "--message", "Thank you")
    assert [turn["replies"] for turn in again["turns"]] == [["Hello!"], ["Bye."]]


def test_a_conversation_as_spans(jeton: Verbs) -> None:
    talk = talked(jeton)
    first, second = (jeton("export", talk, "--as", "spans").stdout for _ in range(2))
    assert first == second
    spans = json.loads(first)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert [span["name"] for span in spans] == ["chat scripted", "invoke_agent bob"] * 2
    assert "Hello!" not in first
    assert "Hello!" in jeton("export", talk, "--as", "spans", "--contents").stdout


def test_a_run_as_spans(jeton: Verbs) -> None:
    run = jeton.parked("calls")
    gate = jeton("export", run, "--as", "spans").stdout
    assert json.loads(gate)["resourceSpans"][0]["scopeSpans"][0]["spans"] == []
    jeton("answer", run, "--value", '{"ok": true}')
    spans = json.loads(jeton("export", run, "--as", "spans").stdout)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    called = {span["name"]: span for span in spans}
    assert list(called) == ["a", "run calls", "gate", "pack", "run ship"]
    assert called["run ship"]["parentSpanId"] == called["a"]["spanId"]


def test_contents_go_with_spans(jeton: Verbs) -> None:
    assert "--contents goes with --as spans" in jeton("export", "x", "--contents").stderr
