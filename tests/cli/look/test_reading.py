"""The verbs that read: `ls`, `show`, `events`, `tokens`, `context`, `explain`, `draw`."""

import json
import xml.etree.ElementTree as ET

import pytest

from jeton.model.json import Json, JsonObject
from tests.cli.served import both
from tests.cli.verbs import Verbs


@both
def test_ls_lists_runs_newest_first_and_filters(jeton: Verbs) -> None:
    first, second = (jeton.run("double", "--input", f'{{"n": {n}}}')["run_id"] for n in range(2))
    jeton.run("broken", exits=1)
    assert [run["run_id"] for run in jeton.json("ls", "--workflow", "double")["runs"]] == [second, first]
    assert [run["workflow"] for run in jeton.json("ls", "--status", "failed")["runs"]] == ["broken"]
    assert [run["run_id"] for run in jeton.json("ls", "--limit", "1", "--after", second)["runs"]] == [first]
    assert first in jeton("ls").stdout


@both
def test_show_gives_the_record(jeton: Verbs) -> None:
    run = jeton.run("nap", "--wait", "0", exits=4)["run_id"]
    found = jeton.json("show", run)
    assert (found["status"], found["waiting_at_node"], found["waiting_label"]) == ("waiting", "a", "a nap")
    assert found["current_nodes"] == ["a"]
    assert "a nap" in jeton("show", run).stdout


@both
def test_events_are_one_sequence_that_can_be_taken_up_anywhere(jeton: Verbs) -> None:
    run = jeton.run("double", "--input", '{"n": 1}')["run_id"]
    events = jeton.json("events", run)["events"]
    assert [event["seq"] for event in events] == list(range(len(events)))
    assert (events[0]["type"], events[-1]["type"]) == ("run.submitted", "run.completed")
    assert jeton.json("events", run, "--after", "2")["events"] == events[3:]
    followed = jeton("events", run, "--follow", "--json").stdout.splitlines()
    assert len(followed) == len(events)
    assert "run.completed" in jeton("events", run).stdout


@both
def test_tokens_are_all_there(jeton: Verbs) -> None:
    run = jeton.run("panel")["run_id"]
    tokens = jeton.json("tokens", run)["tokens"]
    assert {"id", "node", "status", "path", "branch_index", "parent", "attempt", "created_at"} <= set(tokens[0])
    assert [(token["node"], token["branch_index"]) for token in tokens] == [
        ("ask", None),
        ("judge", 0),
        ("judge", 1),
        ("judge", 2),
        ("tally", None),
    ]
    assert "root.judge.2" in jeton("tokens", run).stdout


@both
def test_context_is_input_state_and_output(jeton: Verbs) -> None:
    run = jeton.run("double", "--input", '{"n": 1}')["run_id"]
    assert jeton.json("context", run) == {"input": {"n": 1}, "state": {}, "output": {"n": 2}}


@both
def test_a_run_is_shown_as_it_was_after_an_entry(jeton: Verbs) -> None:
    run = jeton.run("nap", "--wait", "0", exits=4)["run_id"]
    jeton("cancel", run)
    assert jeton.json("show", run)["status"] == "cancelled"
    assert jeton.json("show", run, "--at", "0")["waiting_at_node"] == "a"
    assert "a nap" in jeton("show", run, "--at", "0").stdout
    assert jeton.json("context", run, "--at", "0") == {"input": {}, "state": {}, "output": {}}
    assert [token["status"] for token in jeton.json("tokens", run, "--at", "0")["tokens"]] == ["waiting_for_timer"]
    assert jeton.json("explain", run, "--at", "0")["status"] == "waiting"
    for verb in ("show", "context", "tokens", "explain"):
        assert jeton.json(verb, run, "--at", "99", exits=3)["code"] == "unknown_entry"


@both
def test_explain_speaks_of_a_run_a_token_or_a_transition(jeton: Verbs) -> None:
    run = jeton.run("panel")["run_id"]
    assert len(jeton.json("explain", run)["routings"]) == 4
    assert jeton.json("explain", run, "--token", "0")["routing"]["created"] == [1, 2, 3]
    assert jeton.json("explain", run, "--transition", "1")["to"] == "tally"
    assert "went to the fan-in at 'tally'" in jeton("explain", run).stdout


@both
@pytest.mark.parametrize("verb", ["show", "events", "tokens", "context", "explain", "cancel"])
def test_a_run_that_is_not_there(jeton: Verbs, verb: str) -> None:
    jeton.run("double", "--input", '{"n": 1}')
    assert jeton.json(verb, "nobody", exits=3)["code"] == "unknown_run"


@pytest.mark.parametrize(
    "args", ["ls", "show r", "events r", "tokens r", "context r", "explain r", "cancel r", "resume"]
)
def test_a_store_that_is_not_there_is_not_made(jeton: Verbs, args: str) -> None:
    assert jeton.json(*args.split(), exits=3)["code"] == "no_store"
    assert not jeton.store.exists()


@both
@pytest.mark.parametrize("args", [("--token", "99"), ("--transition", "99")])
def test_explaining_what_is_not_there(jeton: Verbs, args: tuple[str, str]) -> None:
    run = jeton.run("double", "--input", '{"n": 1}')["run_id"]
    assert jeton("explain", run, *args).exit_code == 3


@both
@pytest.mark.parametrize(
    ("style", "has"),
    [
        pytest.param("text", "● judge", id="text"),
        pytest.param("mermaid", "flowchart TD", id="mermaid"),
        pytest.param("svg", "<svg", id="svg"),
    ],
)
def test_draw_puts_a_runs_state_on_the_graph(jeton: Verbs, style: str, has: str) -> None:
    run = jeton.run("panel")["run_id"]
    drawn = jeton("draw", str(jeton.library), "panel", "--run", run, "--format", style).stdout
    assert has in drawn
    assert "2 done" in drawn


def test_draw_needs_no_store_without_a_run(jeton: Verbs) -> None:
    drawn = jeton("draw", str(jeton.library), "panel", "--format", "svg").stdout
    assert ET.fromstring(drawn).tag.endswith("svg")
    assert not jeton.store.exists()
    assert jeton("draw", str(jeton.library)).exit_code == 2
    assert jeton("draw", str(jeton.library), "nobody").exit_code == 3


def test_what_a_run_says_reaches_the_terminal_as_text_only(jeton: Verbs) -> None:
    run = jeton.run("nap", "--wait", "0", "--input", '{"x": "\\u001b[31mred"}', exits=4)["run_id"]
    for verb in ("show", "events", "tokens", "explain"):
        assert "\x1b[31m" not in jeton(verb, run).output


def wide(jeton: Verbs) -> str:
    nodes = {"a": {}, "b": {"action": {"kind": "assert", "implementation": {"that": "false"}}}, "c": {}}
    every = {"from": "a", "to": "b", "foreach": {"collection": "input.items"}}
    joined = {"from": "b", "to": "c", "synchronization": {"strategy": "any", "on_branch_failure": "continue"}}
    flow = {"initial_node": "a", "nodes": nodes, "transitions": [every, joined]}
    jeton.library.write_text(json.dumps({"workflows": {"wide": flow}}))
    return str(jeton.run("wide", "--input", json.dumps({"items": list(range(300))}), exits=1)["run_id"])


def test_a_wide_run_is_shown_in_a_few_lines_and_its_losses_come_first(jeton: Verbs) -> None:
    run = wide(jeton)
    shown = jeton("show", run).stdout.splitlines()
    assert len(shown) < 25
    assert "300 of 300 branches of 'a' were lost: assertion_failed at 'b'" in "\n".join(shown[:6])
    told = jeton("explain", run).stdout.splitlines()
    assert len(told) < 30
    assert "300 of 300 branches of 'a' were lost" in "\n".join(told[:4])


def test_long_values_are_cut_for_people_and_whole_for_machines(jeton: Verbs) -> None:
    flow = {"initial_node": "a", "nodes": {"a": {"output_mapping": {"output.x": "input.x"}}}}
    jeton.library.write_text(json.dumps({"workflows": {"long": flow}}))
    run = jeton.run("long", "--input", json.dumps({"x": ["abc"] * 5000}))["run_id"]
    assert max(map(len, jeton("show", run).stdout.splitlines())) < 2500
    assert len(jeton.json("show", run)["output"]["x"]) == 5000


def test_the_context_of_a_token_has_the_state_of_its_branch(jeton: Verbs) -> None:
    nodes: JsonObject = {
        "a": {},
        "b": {"output_mapping": {"_branch.output.twice": "n * 2"}},
        "c": {"action": {"kind": "assert", "implementation": {"that": "input.n < 30"}}, "input_mapping": {"n": "n"}},
        "d": {},
    }
    ways: list[Json] = [
        {"from": "a", "to": "b", "foreach": {"collection": "[10, 20, 30]", "item_var": "n"}},
        {"from": "b", "to": "c"},
        {"from": "c", "to": "d", "synchronization": {"strategy": "all", "on_branch_failure": "continue"}},
    ]
    jeton.library.write_text(
        json.dumps({"workflows": {"w": {"initial_node": "a", "nodes": nodes, "transitions": ways}}})
    )
    run = jeton.run("w")["run_id"]
    tokens = {(each["node"], each["branch_index"]): each["id"] for each in jeton.json("tokens", run)["tokens"]}
    found = jeton.json("context", run, "--token", str(tokens["c", 2]))
    assert (found["branch"]["index"], found["branch"]["item"], found["branch"]["output"]) == (2, 30, {"twice": 60})
    assert "branch" not in jeton.json("context", run)
    assert jeton.json("context", run, "--token", "0")["branch"] is None
    assert jeton.json("context", run, "--token", "99", exits=3)["code"] == "token_not_found"
