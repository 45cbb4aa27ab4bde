"""`jeton simulate`."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.cli.verbs import Verbs

GATE = {"workflows": {"w": {"initial_node": "a", "nodes": {"a": {"gate": {"title": "Sure?"}}}}}}
APP = """
import jeton


@jeton.action
def greet_simulated(name: str) -> str:
    return f"hello {name}"


@jeton.action
async def count_simulated(name: str) -> int:
    return len(name)
"""
GREETS = {
    "workflows": {
        "w": {
            "input_schema": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string", "const": "Ada"}},
            },
            "initial_node": "greet",
            "nodes": {
                "greet": {"action": "greet_simulated", "output_mapping": {"output.said": "result"}},
                "count": {"action": "count_simulated", "output_mapping": {"output.letters": "result"}},
            },
            "transitions": [{"from": "greet", "to": "count"}],
        }
    }
}


def written(jeton: Verbs, data: object) -> str:
    file = jeton.folder / "simulated.json"
    file.write_text(json.dumps(data))
    return str(file)


def test_one_outcome_exits_with_0(jeton: Verbs) -> None:
    report = jeton.json("simulate", str(jeton.library), "panel", "--seeds", "20", "--faults")
    assert report == {
        "ok": True,
        "seeds": 20,
        "outcomes": [{"status": "completed", "output": {}, "error": None, "count": 20, "seed": 0}],
        "problems": [],
    }
    assert not jeton.store.exists(), "simulated runs are stored nowhere"


def test_a_failure_that_is_always_the_same_is_one_outcome(jeton: Verbs) -> None:
    (outcome,) = jeton.json("simulate", str(jeton.library), "broken", "--seeds", "5")["outcomes"]
    assert (outcome["status"], outcome["error"]) == ("failed", "assertion_failed")


def test_the_input_is_given_or_made_from_its_schema(jeton: Verbs) -> None:
    (given,) = jeton.json("simulate", str(jeton.library), "double", "--input", '{"n": 4}', "--seeds", "2")["outcomes"]
    assert given["output"] == {"n": 8}
    (made,) = jeton.json("simulate", str(jeton.library), "double", "--seeds", "2")["outcomes"]
    assert isinstance(made["output"]["n"], int)
    assert jeton("simulate", str(jeton.library), "double", "--input", "{}").exit_code == 2


def test_a_gate_that_nobody_answers_hangs(jeton: Verbs) -> None:
    file = written(jeton, GATE)
    assert jeton.json("simulate", file, "--seeds", "3")["ok"]
    done = jeton("simulate", file, "--seeds", "3", "--no-answers")
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        "     3 × waiting null  (seed 0)",
        "",
        "hangs: nothing more will happen, and it has not ended",
        "  run w-0: token 0 at 'a' waits for an answer to \"Sure?\" since 0 ms",
        "  seed 0:",
        "       0 ms  run.submitted     input={}",
        '       0 ms  gate.opened       a  title="Sure?"',
        "",
        f"replay: jeton simulate {file} --no-answers --seed 0",
        "3 seeds, 1 problem",
    ]


def test_the_report_names_the_message_of_a_failure_and_how_to_see_it_again(jeton: Verbs) -> None:
    lines = jeton("simulate", str(jeton.library), "broken", "--seeds", "5", "--slowest", "7").stdout.splitlines()
    assert lines[0].startswith("     5 × failed at '")
    assert "': assertion_failed: " in lines[0]
    assert lines[2] == f"replay: jeton simulate {jeton.library} broken --slowest 7 --seed 0"
    (outcome,) = jeton.json("simulate", str(jeton.library), "broken", "--seeds", "5")["outcomes"]
    assert (outcome["error"], f": {outcome['message']}  (seed 0)" in lines[0]) == ("assertion_failed", True)
    told = jeton.json("simulate", str(jeton.library), "broken", "--seed", "0")
    assert (told["error"], told["message"], told["node"]) == (outcome["error"], outcome["message"], outcome["node"])


SAGA: dict[str, Any] = {
    "workflows": {
        "saga": {
            "initial_node": "charge",
            "nodes": {
                "charge": {"action": {"kind": "mock", "implementation": {"output": {}}}},
                "ship": {"action": {"kind": "mock", "implementation": {"output": {}}}},
                "refund": {
                    "action": {"kind": "mock", "implementation": {"output": {}}},
                    "output_mapping": {"output.refunded": "true"},
                },
            },
            "transitions": [
                {"from": "charge", "to": "ship"},
                {"from": "ship", "to": "refund", "condition": "has(state._last_error)"},
            ],
            "on_no_match": "complete",
        }
    }
}


@pytest.mark.parametrize("faults", [[], ["--faults"]], ids=["calm", "with faults"])
def test_with_failures_tasks_fail_and_what_handles_them_is_tried(jeton: Verbs, faults: list[str]) -> None:
    file = written(jeton, SAGA)
    assert len(jeton.json("simulate", file, "--seeds", "40", *faults)["outcomes"]) == 1
    report = jeton.json("simulate", file, "--failures", "--seeds", "150", *faults)
    found = {(end["status"], json.dumps(end["output"]), end.get("node")) for end in report["outcomes"]}
    assert found == {
        ("completed", "{}", None),
        ("completed", '{"refunded": true}', None),
        ("failed", "null", "charge"),
        ("failed", "null", "refund"),
    }
    assert (report["ok"], report["problems"]) == (True, [])
    seed = next(end["seed"] for end in report["outcomes"] if end.get("node") == "refund")
    told = jeton.json("simulate", file, "--failures", "--seed", str(seed), *faults)
    assert (told["error"], told["node"]) == ("simulated_failure", "refund")


def test_a_failure_that_leaves_a_run_waiting_for_ever_is_a_problem(jeton: Verbs) -> None:
    stuck = json.loads(json.dumps(SAGA))
    stuck["workflows"]["saga"]["nodes"]["refund"] = {"wait": {"signal": "help"}}
    report = jeton.json("simulate", written(jeton, stuck), "--failures", "--no-answers", exits=1)
    assert [problem["kind"] for problem in report["problems"]] == ["hang"]
    assert "waits for the signal 'help'" in report["problems"][0]["waits"][0]
    assert [fault["fault"] for fault in report["problems"][0]["faults"]] == ["task_fails"]


def test_one_seed_tells_its_story(jeton: Verbs) -> None:
    done = jeton("simulate", written(jeton, GATE), "--seed", "7")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "completed {}")
    told = jeton.json("simulate", written(jeton, GATE), "--seed", "7", "--no-answers", exits=1)
    assert (told["ok"], told["problem"]["kind"]) == (False, "hang")
    assert [event["type"] for event in told["story"]] == ["run.submitted", "gate.opened"]


def test_functions_are_run_only_if_asked_for(jeton: Verbs) -> None:
    app = jeton.folder / "simulated_app.py"
    app.write_text(APP)
    file = written(jeton, GREETS)
    (made,) = jeton.json("simulate", file, "--app", str(app), "--seeds", "5")["outcomes"]
    assert made["output"]["said"] != "hello Ada"
    (real,) = jeton.json("simulate", file, "--app", str(app), "--real", "--seeds", "5", "--faults")["outcomes"]
    assert real["output"] == {"said": "hello Ada", "letters": 3}


@pytest.mark.parametrize(
    ("args", "exits", "says"),
    [
        pytest.param(["nothing"], 3, "has no workflow or flow 'nothing'", id="a name nobody has"),
        pytest.param([], 2, "name one of: double, broken", id="which of several"),
        pytest.param(["nap", "--fault", "rain"], 2, "there is no 'rain'", id="a fault nobody knows"),
        pytest.param(["nap", "--seeds", "0"], 2, "0 is not in the range", id="no seeds"),
    ],
)
def test_what_cannot_be_simulated(jeton: Verbs, args: list[str], exits: int, says: str) -> None:
    done = jeton("simulate", str(jeton.library), *args)
    assert (done.exit_code, says in done.stderr) == (exits, True), done.output


def test_a_file_that_is_not_there(jeton: Verbs, tmp_path: Path) -> None:
    assert jeton("simulate", str(tmp_path / "nothing.yaml")).exit_code == 3


HEAR = {"wait": {"signal": "done"}, "output_mapping": {"output.heard": "result"}}


def telling(*steps: dict[str, Any], run: str = "run.id", name: str = "'done'", **task: Any) -> dict[str, Any]:
    """A task whose last step tells a run that 7 are done."""
    tell = {"ref": "tell", "action": {"kind": "signal"}, "input_mapping": {"run": run, "name": name, "value": 7}}
    return {"task": {"steps": [*steps, tell], **task}}


def workflow(nodes: dict[str, Any], **rest: Any) -> dict[str, Any]:
    ways = [{"from": a, "to": b} for a, b in pairwise(nodes)]
    return {"initial_node": next(iter(nodes)), "nodes": nodes, "transitions": ways, **rest}


FETCH = {"ref": "fetch", "action": {"kind": "http", "implementation": {"url": "https://a.example"}}}
FETCHED = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}, "additionalProperties": False}


@pytest.mark.parametrize(
    "tell",
    [
        pytest.param(telling(), id="by its name"),
        pytest.param({"action": {"kind": "signal", "implementation": {"name": "done"}},
                      "input_mapping": {"run": "run.id", "value": 7}}, id="by a fixed name, with its node's input"),
        pytest.param(telling(FETCH), id="behind a step that is made up"),
        pytest.param(telling(FETCH, output_schema=FETCHED), id="in a task whose output is made up as a whole"),
    ],
)  # fmt: skip
def test_the_signal_of_an_action_is_sent_and_not_made_up(jeton: Verbs, tell: dict[str, Any]) -> None:
    file = written(jeton, {"workflows": {"w": workflow({"tell": tell, "hear": HEAR})}})
    report = jeton.json("simulate", file, "--seeds", "12", "--faults")
    assert report["ok"], report
    assert [each["output"] for each in report["outcomes"]] == [{"heard": 7}]


def test_a_signal_that_the_workflow_should_send_itself_and_does_not_is_waited_for(jeton: Verbs) -> None:
    nodes = {"hear": HEAR, "tell": telling()}
    done = jeton("simulate", written(jeton, {"workflows": {"w": workflow(nodes)}}), "--seeds", "2")
    assert (done.exit_code, "waits for the signal 'done'" in done.stdout) == (1, True), done.stdout


def test_a_signal_to_a_run_that_is_not_simulated_goes_nowhere_and_one_from_a_person_is_made_up(jeton: Verbs) -> None:
    hear = {"wait": {"signal": "paid", "schema": {"const": 3}}, "output_mapping": {"output.heard": "result"}}
    nodes = {"tell": telling(run="'elsewhere'"), "hear": hear}
    report = jeton.json("simulate", written(jeton, {"workflows": {"w": workflow(nodes)}}), "--seeds", "4")
    assert (report["ok"], [each["output"] for each in report["outcomes"]]) == (True, [{"heard": 3}])


def test_two_runs_of_one_workflow_that_signal_the_run_that_called_them_are_both_heard(jeton: Verbs) -> None:
    child = workflow({"tell": telling(run="run.root_id")})
    parent = workflow(
        {
            "ask": {"workflow": "child"},
            "ask_again": {"workflow": "child"},
            "hear": HEAR,
            "hear_again": {"wait": {"signal": "done"}, "output_mapping": {"output.again": "result"}},
        }
    )
    file = written(jeton, {"workflows": {"parent": parent, "child": child}})
    report = jeton.json("simulate", file, "parent", "--seeds", "12", "--faults")
    assert (report["ok"], [each["output"] for each in report["outcomes"]]) == (True, [{"heard": 7, "again": 7}])


CALLS = {"tool_calls": [{"name": "pay", "input": {"amount": 3}}]}
ASKS: dict[str, Any] = {
    "model_profiles": {
        "fake": {"provider": "scripted", "script": [CALLS, {"when": "size(tool_results) == 1", "text": "Paid."}]},
        "real": {"provider": "openai", "model": "m"},
    },
    "tasks": {"pay": {"steps": [{"action": {"kind": "shell", "implementation": {"argv": ["false"]}}}]}},
    "tools": {"pay": {"task": "pay", "needs_approval": {"approvals": 2}}},
    "personas": {"helper": {"model_profile": "fake", "tools": ["pay"]}},
    "agents": {"bob": {"persona": "helper"}},
    "workflows": {
        "ask": {
            "initial_node": "a",
            "nodes": {
                "a": {
                    "agent": "bob",
                    "input_mapping": {"message": "'Hi'"},
                    "output_mapping": {"output.said": "result.text"},
                }
            },
        }
    },
}


@pytest.mark.parametrize(("profile", "said"), [("fake", "Paid."), ("real", "An answer.")])
def test_agents_answer_by_their_script_or_anything_and_people_approve_their_tools(
    jeton: Verbs, profile: str, said: str
) -> None:
    persona = {"helper": {"model_profile": profile, "tools": ["pay"]}}
    jeton.library.write_text(json.dumps({**ASKS, "personas": persona}))
    report = jeton.json("simulate", str(jeton.library), "--seeds", "20", "--faults")
    assert report["ok"]
    assert [each["output"] for each in report["outcomes"]] == [{"said": said}]


def test_an_approval_that_nobody_gives_hangs(jeton: Verbs) -> None:
    jeton.library.write_text(json.dumps(ASKS))
    report = jeton.json("simulate", str(jeton.library), "--seeds", "1", "--no-answers", exits=1)
    assert [each["kind"] for each in report["problems"]] == ["hang"]
