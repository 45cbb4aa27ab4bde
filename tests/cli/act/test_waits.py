"""`jeton gates`, `answer` and `signal`: with an owner at work, and without one."""

import pytest

import jeton as library
from jeton.cli.prompt import prompt_for
from tests.cli.served import both
from tests.cli.verbs import Verbs


@both
def test_gates_are_listed(jeton: Verbs) -> None:
    run = jeton.parked("ship")
    (gate,) = jeton.json("gates")["gates"]
    assert {"id", "run_id", "node", "title", "schema", "since"} <= gate.keys()
    assert (gate["run_id"], gate["node"], gate["title"]) == (run, "gate", "Ship it?")
    assert jeton.json("gates", run)["gates"] == [gate]
    assert "Ship it?" in jeton("gates").stdout
    assert "Ship it?" in jeton("tokens", run).stdout
    assert jeton.json("gates", "nobody", exits=3)["code"] == "unknown_run"


@both
def test_with_no_owner_an_answered_run_acts_until_nothing_is_runnable(jeton: Verbs) -> None:
    run = jeton.parked("ship")
    found = jeton.json("answer", run, "--value", '{"ok": true}')
    assert (found["accepted"], found["outcome"], found["status"]) == (True, "taken", "completed")
    assert found["output"]["packed"] is True
    assert "no gate is open" in jeton("gates").stdout


def test_an_answer_beside_the_owner(jeton: Verbs) -> None:
    run = jeton.parked("calls")
    with library.open_sync(jeton.store) as owner:
        assert jeton.json("answer", run, "--value", '{"ok": 1}', exits=5)["code"] == "answer_refused"
        assert jeton.json("answer", run, "--value", '{"ok": true}', "--by", "ada")["outcome"] == "taken"
        assert owner.ended(run).status == "completed"


@both
@pytest.mark.parametrize(
    ("args", "exits", "code"),
    [
        pytest.param(("--value", "{}"), 5, "answer_refused", id="one that does not fit"),
        pytest.param(("--value", "{"), 2, "input_invalid", id="no JSON"),
        pytest.param(("--value", "{}", "--gate", "x:1"), 3, "unknown_gate", id="a gate that is not there"),
        pytest.param(("--value", "{}", "--node", "pack"), 5, "answer_refused", id="a node that is no gate"),
        pytest.param(("--value", "{}", "--node", "gate", "--gate", "x:1"), 2, "ambiguous", id="a gate and a node"),
    ],
)
def test_an_answer_that_is_not_taken(jeton: Verbs, args: tuple[str, ...], exits: int, code: str) -> None:
    run = jeton.parked("ship")
    assert jeton.json("answer", run, *args, exits=exits)["code"] == code
    assert len(jeton.json("gates")["gates"]) == 1


@pytest.mark.parametrize(
    ("words", "name"),
    [
        pytest.param(("answer", "--value", "{"), "--value", id="an answer"),
        pytest.param(("signal", "go", "--value", "{"), "--value", id="a signal"),
        pytest.param(("fork", "--at", "0", "--set", "state.x={"), "--set", id="an edit"),
    ],
)
def test_what_is_no_json_is_called_by_its_name(jeton: Verbs, words: tuple[str, ...], name: str) -> None:
    run = jeton.parked("ship")
    refused = jeton.json(words[0], run, *words[1:], exits=2)
    assert refused["problem"].startswith(f"{name}: is no JSON")
    assert "no run was made" not in refused["remedy"]


@both
def test_a_run_that_has_ended_takes_nothing(jeton: Verbs) -> None:
    run = jeton.run("double", "--input", '{"n": 1}')["run_id"]
    assert jeton.json("answer", run, "--value", "1", exits=5)["code"] == "run_ended"
    assert jeton.json("signal", run, "paid", exits=5)["code"] == "run_ended"
    assert jeton.json("answer", "nobody", "--value", "1", exits=3)["code"] == "unknown_run"


def test_without_a_terminal_the_value_must_be_given(jeton: Verbs) -> None:
    assert jeton("answer", "some-run").exit_code == 2


@both
def test_a_signal_is_heard_kept_or_refused(jeton: Verbs) -> None:
    run = jeton.parked("hear")
    assert jeton.json("signal", run, "payed", exits=5)["remedy"] == "write 'paid'"
    assert jeton.json("signal", run, "paid", "--value", '"much"', exits=5)["code"] == "signal_refused"
    found = jeton.json("signal", run, "paid", "--value", "5")
    assert (found["outcome"], found["status"], found["output"]) == ("taken", "completed", {"paid": 5})


def test_a_signal_beside_the_owner(jeton: Verbs) -> None:
    run = jeton.parked("hear")
    with library.open_sync(jeton.store) as owner:
        assert "was received" in jeton("signal", run, "paid", "--value", "5").stdout
        assert owner.ended(run).output == {"paid": 5}


def test_resume_drives_runs_to_their_waits(jeton: Verbs) -> None:
    runs = {jeton.parked("hear"), jeton.parked("ship")}
    found = jeton.json("resume")
    assert {(run["run_id"], run["status"]) for run in found["runs"]} == {(run, "waiting") for run in runs}


SCHEMA = {
    "required": ["ok", "boxes"],
    "properties": {
        "ok": {"type": "boolean"},
        "how": {"enum": ["fast", "slow"]},
        "boxes": {"type": "integer"},
        "note": {"type": "string"},
        "rest": {},
    },
}


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        pytest.param(SCHEMA, ["y", "3", "slow", "", "[1]"], {"ok": True, "how": "slow", "boxes": 3, "rest": [1]}),
        pytest.param(SCHEMA, ["n", "x", "4", "loud", "", "hm", ""], {"ok": False, "boxes": 4, "note": "hm"}),
        pytest.param(None, ["yes please"], "yes please"),
        pytest.param({"type": "number"}, ["1.5"], 1.5),
    ],
    ids=["an object", "optional ones left out, and two mistyped", "no schema", "a number"],
)
def test_a_person_is_asked_for_what_the_schema_describes(
    schema: object, typed: list[str], value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = iter(typed)

    def types(_: str) -> str:
        return next(waiting)

    monkeypatch.setattr("click.termui.visible_prompt_func", types)
    assert prompt_for("Well?", schema) == value
    assert list(waiting) == []


BAD = "a\u202eb\x9b31m"


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        pytest.param({"enum": [BAD, "no"]}, "a\\u202eb\\x9b31m", BAD, id="a choice"),
        pytest.param({"enum": [BAD, "no"], "default": BAD}, "", BAD, id="a default choice"),
        pytest.param({"type": "string", "default": BAD}, "", BAD, id="a default"),
        pytest.param({"type": "integer", "default": 4}, "", 4, id="a default number"),
        pytest.param({"default": {"a": [BAD]}}, "", {"a": [BAD]}, id="a default object"),
        pytest.param({"type": "string", "description": BAD}, "x", "x", id="a description"),
    ],
)
def test_a_prompt_has_no_control_character(
    schema: object, typed: str, value: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def types(prompt: str) -> str:
        asked.append(prompt)
        return "wrong" if "enum" in str(schema) and len(asked) == 1 else typed

    monkeypatch.setattr("click.termui.visible_prompt_func", types)
    assert prompt_for(BAD, schema) == value
    printed = capsys.readouterr()
    assert not set("\u202e\x9b") & set("".join(asked) + printed.out + printed.err)


def test_tokens_show_the_name_of_the_signal(jeton: Verbs) -> None:
    run = jeton.parked("hear")
    assert jeton.json("tokens", run)["tokens"][0]["signal"] == "paid"
    assert "the signal 'paid'" in jeton("tokens", run).stdout
