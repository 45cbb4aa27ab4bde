"""`jeton triggers` and `jeton fire`."""

import msgspec
import pytest

from tests.cli.verbs import Verbs

LIBRARY = {
    "workflows": {"hello": {"initial_node": "a", "nodes": {"a": {"output_mapping": {"output.n": "input.n"}}}}},
    "triggers": {
        "go": {"type": "manual", "start": "hello", "input": {"n": 1}},
        "morning": {"type": "schedule", "cron": "0 7 * * mon-fri", "time_zone": "Europe/Berlin", "start": "hello"},
    },
}


@pytest.fixture
def deployed(jeton: Verbs) -> Verbs:
    file = jeton.folder / "triggers.json"
    file.write_bytes(msgspec.json.encode(LIBRARY))
    jeton("triggers", "--deploy", str(file))
    return jeton


def test_triggers_are_listed_with_their_next_time_and_their_last_firing(deployed: Verbs) -> None:
    go, morning = deployed.json("triggers")["triggers"]
    assert (go["name"], go["type"], go["start"], go["next_at"], go["last"]) == ("go", "manual", "hello", None, None)
    assert morning["on"] == {"cron": "0 7 * * mon-fri", "time_zone": "Europe/Berlin"}
    assert morning["next_at"].endswith("00:00.000Z")
    fired = deployed.json("fire", "go")
    assert deployed.json("triggers")["triggers"][0]["last"] == fired
    shown = deployed("triggers").stdout
    assert fired["run_id"] in shown
    assert "morning" in shown


def test_a_trigger_is_fired_once_per_delivery(deployed: Verbs) -> None:
    first = deployed.json("fire", "go", "--input", '{"n": 5}', "--delivery", "d-1")
    assert deployed.json("fire", "go", "--delivery", "d-1") == first
    assert "fired" in deployed("fire", "go").stdout
    assert len(deployed.json("triggers", "--firings", "go")["firings"]) == 2
    deployed("resume")
    shown = deployed.json("show", first["run_id"])
    assert (shown["status"], shown["output"], shown["trigger_id"]) == ("completed", {"n": 5}, "go")


def test_what_may_not_fire(deployed: Verbs) -> None:
    assert deployed.json("fire", "nobody", exits=3)["code"] == "unknown_trigger"
    assert deployed.json("triggers", "--disable", "hello")["triggers"][0]["disabled"]
    assert deployed.json("fire", "go", exits=5)["code"] == "disabled"
    assert "disabled" in deployed("triggers").stdout
    deployed("triggers", "--enable", "hello")
    assert deployed.json("fire", "go")["run_id"]
    assert deployed.json("triggers", "--remove", "go")["triggers"][0]["name"] == "morning"
    assert deployed.json("fire", "go", exits=3)["code"] == "unknown_trigger"
