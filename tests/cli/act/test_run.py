"""`jeton run`: what it prints, and what it exits with."""

import json
from pathlib import Path

import pytest

from tests.cli.served import both
from tests.cli.verbs import Verbs

APP = """
import jeton

@jeton.action
def shout(text: str) -> str:
    return text.upper()
"""
SHOUTS = {
    "workflows": {
        "shouts": {
            "initial_node": "a",
            "nodes": {"a": {"action": "shout", "output_mapping": {"output.said": "result"}}},
        }
    }
}


@both
@pytest.mark.parametrize(
    ("args", "exits", "status"),
    [
        pytest.param(("double", "--input", '{"n": 21}'), 0, "completed", id="done"),
        pytest.param(("broken",), 1, "failed", id="the run failed"),
        pytest.param(("nap", "--wait", "0"), 4, "waiting", id="still waiting when its time was up"),
    ],
)
def test_a_run_and_its_exit_code(jeton: Verbs, args: tuple[str, ...], exits: int, status: str) -> None:
    assert jeton.run(*args, exits=exits)["status"] == status


@both
def test_the_answer_is_the_record_with_output_error_and_nodes(jeton: Verbs) -> None:
    found = jeton.run("double", "--input", '{"n": 21}')
    assert (found["output"], found["error"], found["trigger_depth"], found["nodes"]) == ({"n": 42}, None, 0, {})
    assert found["run_id"] == jeton.json("ls")["runs"][0]["run_id"]


@both
@pytest.mark.parametrize(
    ("args", "exits", "code"),
    [
        pytest.param(("double", "--input", '{"n": "x"}'), 2, "input_invalid", id="input that does not fit its schema"),
        pytest.param(("double", "--input", '{"n": 1, "n": 2}'), 2, "input_invalid", id="input that is no strict JSON"),
        pytest.param(("nobody",), 3, "unknown_workflow", id="a workflow the file does not have"),
        pytest.param((), 2, "which_workflow", id="one of several, unnamed"),
        pytest.param(("double", "--app", "no_such_module"), 2, "app_not_loaded", id="an app that is not there"),
    ],
)
def test_what_makes_no_run(jeton: Verbs, args: tuple[str, ...], exits: int, code: str) -> None:
    refused = jeton.json("run", str(jeton.library), *args, exits=exits)
    assert refused["code"] == code
    assert refused["problem"]
    assert refused["remedy"]
    assert not jeton.store.exists() or jeton.json("ls") == {"runs": []}


@both
def test_definition_errors_are_all_listed_and_nothing_is_stored(jeton: Verbs) -> None:
    jeton.library.write_text('{"workflows": {"w": {"initial_node": "b", "nodes": {"a": {"task": "nobody"}}}}}')
    found = jeton.run("w", exits=2)
    assert found["ok"] is False
    assert {problem["code"] for problem in found["problems"]} >= {"unknown_task"}
    assert jeton.served or not jeton.store.exists()


@both
def test_a_file_that_is_not_there_is_not_found(jeton: Verbs) -> None:
    assert jeton.json("run", "nowhere.yaml", exits=3)["problems"][0]["code"] == "file_not_found"


@both
def test_input_may_come_from_a_file(jeton: Verbs) -> None:
    file = jeton.folder / "input.json"
    file.write_text('{"n": 4}')
    assert jeton.run("double", "--input", f"@{file}")["output"] == {"n": 8}
    assert jeton("run", str(jeton.library), "double", "--input", "@nowhere.json").exit_code == 2


@both
def test_a_key_gives_the_same_run_and_refuses_other_input(jeton: Verbs) -> None:
    first, again = (jeton.run("double", "--key", "k", "--input", '{"n": 1}') for _ in range(2))
    assert first["run_id"] == again["run_id"]
    assert jeton.run("double", "--key", "k", "--input", '{"n": 2}', exits=5)["code"] == "key_conflict"


@both
def test_a_trace_shows_what_was_decided(jeton: Verbs) -> None:
    traced = jeton.run("double", "--trace", "--input", '{"n": 1}')
    assert "decision.finish_node" in [event["type"] for event in traced["trace"]]


def test_python_actions_come_from_an_app(jeton: Verbs) -> None:
    (jeton.folder / "shouting_app.py").write_text(APP)
    jeton.library.write_text(json.dumps(SHOUTS))
    args = ("--app", str(jeton.folder / "shouting_app.py"), "--input", '{"text": "hey"}')
    assert jeton.run("shouts", *args)["output"] == {"said": "HEY"}


def test_an_app_is_imported_under_its_own_name(jeton: Verbs) -> None:
    (jeton.folder / "json.py").write_text(APP)
    refused = jeton.run("double", "--app", str(jeton.folder / "json.py"), exits=2)
    assert "another module of that name" in refused["problem"]


@both
def test_people_see_what_happens_and_the_output(jeton: Verbs) -> None:
    done = jeton("run", str(jeton.library), "double", "--input", '{"n": 21}')
    assert "run.completed" in done.stdout
    assert '"n": 42' in done.stdout
    assert "\x1b" not in done.output


def test_people_are_told_how_a_run_that_is_left_goes_on(jeton: Verbs) -> None:
    done = jeton("run", str(jeton.library), "nap", "--wait", "0")
    assert "jeton resume" in done.stderr


def test_a_run_cannot_be_followed_by_two_owners(jeton: Verbs, tmp_path: Path) -> None:
    import jeton as library

    jeton.run("double", "--input", '{"n": 1}')
    with library.open_sync(jeton.store):
        assert jeton.run("double", "--input", '{"n": 1}', exits=5)["code"] == "store_owned"


def test_the_hint_to_go_on_can_be_pasted(jeton: Verbs) -> None:
    store = jeton.folder / "my runs.db"
    (jeton.folder / "hint_app.py").write_text("import jeton\n")
    app = str(jeton.folder / "hint_app.py")
    done = jeton("run", str(jeton.library), "nap", "--wait", "0", "--store", str(store), "--app", app)
    assert f"to go on: jeton resume --store '{store}' --app {app}" in done.stderr
    done = jeton("run", str(jeton.library), "nap", "--wait", "0")
    assert done.stderr.endswith("to go on: jeton resume\n")
