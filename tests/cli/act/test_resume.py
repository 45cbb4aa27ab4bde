"""`jeton resume`: every unfinished run, to its end or to a wait."""

import json
from typing import Any

from tests.cli.verbs import Verbs

NO_SUCH = {"kind": "python", "implementation": {"function": "no_such_module:f"}}
LOST = {"workflows": {"lost": {"initial_node": "a", "nodes": {"a": {"action": NO_SUCH}}}}}

TALK: dict[str, Any] = {
    "model_profiles": {
        "fake": {"provider": "scripted", "script": [{"tool_calls": [{"name": "f", "input": {}}]}, {"text": "Done."}]}
    },
    "tasks": {"f": {"steps": [{"action": NO_SUCH}]}},
    "tools": {"f": {"task": "f"}},
    "personas": {"helper": {"model_profile": "fake", "tools": ["f"]}},
    "agents": {"bob": {"persona": "helper"}},
}


def test_a_run_that_waits_is_driven_to_its_wait_and_left(jeton: Verbs) -> None:
    run = jeton.run("nap", "--wait", "0", exits=4)["run_id"]
    found = jeton.json("resume")
    assert [(each["run_id"], each["status"]) for each in found["runs"]] == [(run, "waiting")]
    assert found["needs_app"] == {}
    assert f"{run} nap@1 waiting" in jeton("resume").stdout


def test_runs_that_have_ended_are_left_alone(jeton: Verbs) -> None:
    jeton.run("double", "--input", '{"n": 1}')
    assert jeton.json("resume")["runs"] == []
    assert "nothing to resume" in jeton("resume").stdout


def test_a_function_that_is_not_here_parks_the_run_and_is_named(jeton: Verbs) -> None:
    jeton.library.write_text(json.dumps(LOST))
    assert jeton.run("lost", exits=5)["code"] == "needs_app"
    found = jeton.json("resume", exits=5)
    assert [each["status"] for each in found["runs"]] == ["running"]
    assert "no_such_module:f" in next(iter(found["needs_app"].values()))


def test_a_conversation_in_which_a_turn_moves_is_listed(jeton: Verbs) -> None:
    jeton.library.write_text(json.dumps(TALK))
    talk = jeton.json("chat", str(jeton.library), "bob", "--message", "Hi", exits=4)["conversation_id"]
    found = jeton.json("resume", exits=5)
    assert found["conversations"] == [{"id": talk, "agent": "bob", "status": "active"}]
    assert "no_such_module:f" in found["needs_app"][talk]
    jeton("cancel", talk)
    assert jeton.json("resume")["conversations"] == []
