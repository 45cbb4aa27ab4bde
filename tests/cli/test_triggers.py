"""`jeton triggers` and `jeton fire`."""

from typing import Any

import msgspec
import pytest

from tests.cli.served import both
from tests.cli.verbs import Verbs

LIBRARY: dict[str, Any] = {
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


@both
def test_triggers_are_listed_with_their_next_time_and_their_last_firing(deployed: Verbs) -> None:
    go, morning = deployed.json("triggers")["triggers"]
    assert (go["name"], go["type"], go["start"], go["next_at"], go["last"]) == ("go", "manual", "hello", None, None)
    assert morning["on"] == {"cron": "0 7 * * mon-fri", "time_zone": "Europe/Berlin"}
    assert morning["next_at"].endswith("00:00.000Z")
    assert morning["upcoming"][0] == morning["next_at"]
    assert len(set(morning["upcoming"])) == 3
    fired = deployed.json("fire", "go")
    assert deployed.json("triggers")["triggers"][0]["last"] == fired
    shown = deployed("triggers").stdout
    assert fired["run_id"] in shown
    assert "morning" in shown


@both
def test_a_trigger_is_fired_once_per_delivery(deployed: Verbs) -> None:
    first = deployed.json("fire", "go", "--input", '{"n": 5}', "--delivery", "d-1")
    assert deployed.json("fire", "go", "--delivery", "d-1") == first
    assert "fired" in deployed("fire", "go").stdout
    assert len(deployed.json("triggers", "--firings", "go")["firings"]) == 2
    deployed.drive()
    shown = deployed.json("show", first["run_id"])
    assert (shown["status"], shown["output"], shown["trigger_id"]) == ("completed", {"n": 5}, "go")


@both
def test_what_may_not_fire(deployed: Verbs) -> None:
    assert deployed.json("fire", "nobody", exits=3)["code"] == "unknown_trigger"
    assert deployed.json("triggers", "--disable", "hello")["triggers"][0]["disabled"]
    assert deployed.json("fire", "go", exits=5)["code"] == "disabled"
    assert "disabled" in deployed("triggers").stdout
    deployed("triggers", "--enable", "hello")
    assert deployed.json("fire", "go")["run_id"]
    assert deployed.json("triggers", "--remove", "go")["triggers"][0]["name"] == "morning"
    assert deployed.json("fire", "go", exits=3)["code"] == "unknown_trigger"


@both
def test_a_trigger_that_the_file_no_longer_has_is_removed_and_that_is_said(deployed: Verbs) -> None:
    file = deployed.folder / "triggers.json"
    manual = {"go": LIBRARY["triggers"]["go"]}
    file.write_bytes(msgspec.json.encode({**LIBRARY, "triggers": manual}))
    found = deployed.json("triggers", "--deploy", str(file))
    assert ([each["name"] for each in found["triggers"]], found["removed"]) == (["go"], ["morning"])
    assert deployed.json("triggers", "--deploy", str(file))["removed"] == []
    file.write_bytes(msgspec.json.encode({"workflows": LIBRARY["workflows"]}))
    assert "removed the trigger 'go'" in deployed("run", str(file), "--input", '{"n": 1}').stderr
    assert deployed("triggers").stdout == "no triggers\n"


def test_what_a_run_set_off_is_shown_with_it(jeton: Verbs) -> None:
    file = jeton.folder / "after.json"
    after = {"again": {"type": "run_finished", "workflow": "hello", "start": "hello"}}
    file.write_bytes(msgspec.json.encode({"workflows": LIBRARY["workflows"], "triggers": after}))
    first = jeton.json("run", str(file), "--input", '{"n": 1}')["run_id"]
    found = jeton.json("resume")["runs"]
    assert found
    assert {(each["trigger_id"], each["status"]) for each in found} == {("again", "completed")}
    assert "nothing to resume" in jeton("resume").stdout
    shown = jeton.json("show", first)["fired"]
    assert [(each["trigger"], each["code"]) for each in shown] == [("again", None)]
    assert f"again (run_finished)  {shown[0]['run_id']}" in jeton("show", first).stdout
    runs = jeton.json("ls")["runs"]
    last = next(run["run_id"] for run in runs if run["trigger_depth"] == 3)
    assert jeton.json("show", last)["fired"][0]["code"] == "too_deep"
    assert "refused, too_deep" in jeton("show", last).stdout
