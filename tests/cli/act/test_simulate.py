"""`jeton simulate`."""

import json
from pathlib import Path

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
        "3 seeds, 1 problem",
    ]


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
