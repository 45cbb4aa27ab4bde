"""Flows at the command line."""

import json
from pathlib import Path

import pytest

from tests.cli.verbs import Verbs

FLOW = {
    "flows": {
        "discount": {
            "nodes": {
                "start": {"type": "trigger"},
                "total": {"type": "sum", "inputs": {"values": [10, 20]}},
                "big": {"type": "if_else", "data": {"condition": "inputs.main > 25"}},
                "rebate": {"type": "multiply", "inputs": {"b": 0.9}},
                "thanks": {"type": "set", "data": {"note": "'no rebate'"}},
            },
            "connections": [
                {"from": "start", "to": "total"},
                {"from": "total", "from_output": "result", "to": "big"},
                {"from": "big", "from_output": "true", "to": "rebate", "to_input": "a"},
                {"from": "big", "from_output": "false", "to": "thanks"},
            ],
        }
    }
}
DRAWN = """\
discount
○ start (trigger)
  └─▶ total
○ total (sum)
  └─▶ big  [result]
○ big (if_else: inputs.main > 25)
  ├─▶ rebate  [true → a]
  └─▶ thanks  [false]
○ rebate (multiply)
○ thanks (set)
"""


@pytest.fixture
def file(jeton: Verbs, tmp_path: Path) -> str:
    path = tmp_path / "flow.json"
    path.write_text(json.dumps(FLOW))
    return str(path)


def test_the_only_flow_of_a_file_needs_no_name(jeton: Verbs, file: str) -> None:
    found = jeton.json("run", file)
    assert found["status"] == "completed"
    assert found["nodes"]["rebate"]["outputs"] == {"result": 27.0}
    assert found["nodes"]["thanks"] == {
        "status": "skipped",
        "inputs": None,
        "outputs": None,
        "error": None,
        "skip_reason": "branch_not_taken",
        "blocked_by": ["big"],
    }
    assert found["nodes"]["rebate"]["inputs"] == {"a": 30, "b": 0.9}
    shown = jeton.json("show", found["run_id"])
    assert shown["nodes"] == found["nodes"]


def test_every_verb_that_reads_reads_a_flow(jeton: Verbs, file: str) -> None:
    run = jeton.json("run", file, "discount")["run_id"]
    assert jeton.json("check", file)["ok"]
    nodes = {node["node"]: node["status"] for node in jeton.json("explain", run)["nodes"]}
    assert nodes["thanks"] == "skipped"
    explained = jeton("explain", run).stdout
    assert "'thanks' is skipped because no branch led to it from big\n" in explained
    assert "  it was given b = 0.9, a = 30\n" in explained
    assert [token["node"] for token in jeton.json("tokens", run)["tokens"]] == ["start", "total", "big", "rebate"]
    assert jeton.json("context", run)["state"] == {}
    assert jeton.json("events", run)["events"][-1]["type"] == "run.completed"
    assert jeton("show", run).exit_code == 0
    assert jeton.json("show", run, "--words", "editor")["status"] == "SUCCESS"
    assert jeton.json("show", run, "--words", "dataflow")["skippedNodes"] == ["thanks"]
    assert jeton("run", file).exit_code == 0


def test_a_flow_is_drawn_with_its_handles_and_its_state(jeton: Verbs, file: str) -> None:
    assert jeton("draw", file).stdout == DRAWN
    run = jeton.json("run", file)["run_id"]
    drawn = jeton("draw", "--run", run).stdout
    assert "● rebate (multiply)  1 done" in drawn
    assert "⊘ thanks (set)  1 skipped" in drawn
    for style in ("mermaid", "svg"):
        assert jeton("draw", "--run", run, "--format", style).exit_code == 0


@pytest.mark.parametrize(
    ("b", "on_error", "taken"),
    [
        pytest.param(0, "route", ["mend"], id="a failure that is routed"),
        pytest.param(1, "route", ["use"], id="no failure"),
        pytest.param(0, {"default": {"result": 0}}, ["mend", "use"], id="a failure that is replaced"),
    ],
)
def test_a_drawing_shows_whether_the_way_for_failures_was_taken(
    jeton: Verbs, tmp_path: Path, b: int, on_error: object, taken: list[str]
) -> None:
    path = tmp_path / "flow.json"
    divide = {"type": "divide", "inputs": {"a": 1, "b": b}, "on_error": on_error}
    wires = [{"from": "s", "to": "d"}, {"from": "d", "to": "use"}, {"from": "d", "from_output": "error", "to": "mend"}]
    nodes = {"s": {"type": "trigger"}, "d": divide, "use": {"type": "merge"}, "mend": {"type": "merge"}}
    path.write_text(json.dumps({"flows": {"f": {"nodes": nodes, "connections": wires}}}))
    run = jeton.json("run", str(path))["run_id"]
    drawn = jeton("draw", "--run", run).stdout.splitlines()
    assert sorted(line.split("▶ ")[1].split()[0] for line in drawn if line.endswith("✓")) == ["d", *taken]


def test_an_override_is_given_to_this_run_alone(jeton: Verbs, file: str) -> None:
    given = ("--override", "total.values=[1, 2]", "--override", 'thanks.a.b={"x": "="}')
    found = jeton.json("run", file, *given)
    assert found["nodes"]["total"]["inputs"]["values"] == [1, 2]
    assert found["nodes"]["thanks"]["inputs"] == {"a.b": {"x": "="}, "main": 3}
    assert jeton.json("run", file)["nodes"]["total"]["outputs"] == {"result": 30}


@pytest.mark.parametrize(
    ("written", "code", "says"),
    [
        pytest.param("total=1", "bad_argument", "write NODE.HANDLE=JSON", id="no handle"),
        pytest.param("total.values", "bad_argument", "write NODE.HANDLE=JSON", id="no value"),
        pytest.param("total.values=[1", "input_invalid", "--override", id="no JSON"),
        pytest.param("totl.values=[1]", "unknown_node", "flow 'discount' has no node 'totl' (write 'total', or",
                     id="no such node"),
        pytest.param("total.value=[1]", "unknown_handle", "'total' has no input handle 'value' (write 'values', or",
                     id="no such handle"),
    ],
)  # fmt: skip
def test_an_override_that_cannot_be_meant(jeton: Verbs, file: str, written: str, code: str, says: str) -> None:
    found = jeton("run", file, "--override", written)
    assert (found.exit_code, says in found.output) == (2, True)
    assert jeton.json("run", file, "--override", written, exits=2)["code"] == code


def test_a_failure_that_was_handled_is_explained(jeton: Verbs, tmp_path: Path) -> None:
    path = tmp_path / "flow.json"
    nodes = {"d": {"type": "divide", "inputs": {"a": 1, "b": 0}, "on_error": "route"}}
    path.write_text(json.dumps({"flows": {"f": {"nodes": nodes}}}))
    run = jeton.json("run", str(path))["run_id"]
    assert "  its failure was handled: bad_input: divide: division by zero" in jeton("explain", run).stdout


def test_a_flow_that_fails_exits_so(jeton: Verbs, file: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps({"flows": {"f": {"nodes": {"d": {"type": "divide", "inputs": {"a": 1, "b": 0}}}}}}))
    found = jeton.json("run", str(broken), exits=1)
    assert found["nodes"]["d"]["status"] == "failed"
    assert "zero" in found["nodes"]["d"]["error"]["message"]
