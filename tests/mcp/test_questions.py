"""What a server asks people: a gate of the run, whose answer goes back with the server's own state."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import yaml

import jeton
from jeton.executor.mcp.errors import Denied
from jeton.executor.mcp.questions import answer_schema, form_schema, question_of, responses_to
from jeton.expression.schema import SchemaValidator
from tests.mcp.given import Data, calls, failure, is_alive, library, log_of, program, run, said

ROOT = Path(__file__).parents[2]
NAME: Data = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


async def test_the_answer_of_a_person_goes_to_the_server(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        found = {tool: calls(tool) for tool in ("ask", "ask_twice")}
        impatient = calls("ask", answer_timeout_ms=50)
        await engine.deploy(library({"s": {"command": program()}}, **found, impatient=impatient))
        asking = await engine.start("ask", {})
        await engine.idle()
        (gate,) = await engine.gates(asking.id)
        assert gate.title == "MCP server 's', tool 'ask' asks: Name number 1?"
        with pytest.raises(jeton.Refused) as refused:
            await engine.answer(asking.id, {"name": 7})
        assert refused.value.code == "answer_refused"
        await engine.answer(asking.id, {"name": "Ada"})
        assert said(await engine.ended(asking.id, 30)) == "hello Ada"

        twice = await engine.start("ask_twice", {})
        for name in ("Ada", "Bob"):
            await engine.idle()
            await engine.answer(twice.id, {"action": "accept", "content": {"name": name}})
        assert said(await engine.ended(twice.id, 30)) == "hello Ada and Bob"

        declined = await engine.start("ask", {})
        await engine.idle()
        await engine.answer(declined.id, {"action": "decline"})
        assert said(await engine.ended(declined.id, 30)) == "declined"

        assert failure(await run(engine, "impatient"))[0] == "timed_out"


def jeton_command(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "jeton.cli.main", *words]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder, timeout=120)


@pytest.mark.long
def test_a_question_is_answered_after_the_process_was_killed(tmp_path: Path) -> None:
    """kill -9 of the engine that asked; another process has the answer, and the call is made again with it."""
    log, file = tmp_path / "log", tmp_path / "library.yaml"
    file.write_text(yaml.safe_dump(library({"s": {"command": program("--log", str(log))}}, ask=calls("ask_twice"))))
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    words = ("run", str(file), "ask", "--input", "{}", "--json", "--store", "s.db")
    engine = subprocess.Popen(
        [sys.executable, "-m", "jeton.cli.main", *words], env=env, cwd=tmp_path, stdout=subprocess.DEVNULL
    )
    gates: list[Data] = []
    for _ in range(300):
        listed = jeton_command("gates", "--json", "--store", "s.db", folder=tmp_path)
        gates = json.loads(listed.stdout)["gates"] if listed.returncode == 0 else []
        if gates:
            break
    engine.send_signal(signal.SIGKILL)
    engine.wait()
    (first,) = {process for process, _ in log_of(log)}
    assert gates[0]["title"].endswith("asks: Name number 1?")
    run_id = gates[0]["run_id"]
    for name in ("Ada", "Bob"):
        answered = jeton_command(
            "answer", run_id, "--value", json.dumps({"name": name}), "--json", "--store", "s.db", folder=tmp_path
        )
        assert answered.returncode == 0, answered.stdout + answered.stderr
    shown = json.loads(jeton_command("show", run_id, "--json", "--store", "s.db", folder=tmp_path).stdout)
    assert (shown["status"], shown["output"]) == ("completed", {"result": {"text": "hello Ada and Bob"}})
    assert json.loads(jeton_command("verify", "--json", "--store", "s.db", folder=tmp_path).stdout)["ok"]
    assert not is_alive(first), "the server ended with the engine that was killed"
    assert [line for _, line in log_of(log)].count("call ask_twice []") == 3


# questions without a server


def ask(message: str = "Who?", schema: Data | None = None) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(message=message, requested_schema=NAME if schema is None else schema)
    return types.ElicitRequest(params=params)


def visit(url: str) -> types.ElicitRequest:
    return types.ElicitRequest(params=types.ElicitRequestURLParams(message="Sign in", url=url))


@pytest.mark.parametrize(
    ("answer", "action", "content"),
    [
        pytest.param({"name": "Ada"}, "accept", {"name": "Ada"}, id="the fields of the form"),
        pytest.param({"action": "accept", "content": {"name": "Ada"}}, "accept", {"name": "Ada"}, id="accepted"),
        pytest.param({"action": "decline"}, "decline", None, id="declined"),
        pytest.param({"action": "cancel"}, "cancel", None, id="cancelled"),
    ],
)
def test_answers_to_one_question(answer: Data, action: str, content: Data | None) -> None:
    _, schema, asked = question_of({"q": ask()}, "x")
    assert SchemaValidator(schema).problem(answer, "answer") is None
    assert responses_to(asked, answer) == {"q": types.ElicitResult(action=action, content=content)}  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", [{}, {"name": 7}, {"action": "agree"}, {"action": "accept"}, "Ada", None])
def test_what_is_no_answer(answer: Any) -> None:
    _, schema, _ = question_of({"q": ask()}, "x")
    assert SchemaValidator(schema).problem(answer, "answer") is not None


def test_a_form_with_a_field_called_action() -> None:
    form: Data = {"type": "object", "properties": {"action": {"enum": ["accept", "buy"]}}, "required": ["action"]}
    _, _, asked = question_of({"q": ask(schema=form)}, "x")
    (filled,) = responses_to(asked, {"action": "accept"}).values()
    assert filled == types.ElicitResult(action="accept", content={"action": "accept"})
    (declined,) = responses_to(asked, {"action": "decline"}).values()
    assert declined == types.ElicitResult(action="decline")


def test_several_questions_are_one_gate() -> None:
    title, schema, asked = question_of({"a": ask("Who?"), "b": visit("https://a.example/in")}, "tool t")
    assert title == "tool t asks: Who?\nSign in\nOpen https://a.example/in and then accept."
    answer: Data = {"a": {"name": "Ada"}, "b": {"action": "accept"}}
    assert SchemaValidator(schema).problem(answer, "answer") is None
    assert SchemaValidator(schema).problem({"a": {"name": "Ada"}}, "answer") is not None
    found = responses_to(asked, answer)
    assert found == {
        "a": types.ElicitResult(action="accept", content={"name": "Ada"}),
        "b": types.ElicitResult(action="accept"),
    }


def test_a_server_gets_no_roots_and_asks_not_without_end() -> None:
    with pytest.raises(Denied, match="roots/list"):
        question_of({"r": types.ListRootsRequest()}, "x")
    with pytest.raises(Denied, match="21 questions"):
        question_of({str(n): ask() for n in range(21)}, "x")


def test_of_a_schema_only_what_forms_need_is_kept() -> None:
    hostile: Data = {
        "type": "object",
        "$ref": "https://evil.example/schema",
        "$defs": {"x": {}},
        "properties": {
            "a": {"type": "string", "pattern": "(a+)+$", "title": "A", "enum": ["x", "y"]},
            "b": {"type": "array", "items": {"type": "string", "$ref": "#/x", "enum": ["p"]}, "maxItems": 2},
            "c": {"oneOf": [{"const": 1, "title": "one", "not": {}}, 7]},
            "d": True,
        },
        "required": ["a"],
        "additionalProperties": {"$dynamicRef": "#x"},
    }
    assert form_schema(hostile) == {
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": {"type": "string", "title": "A", "enum": ["x", "y"]},
            "b": {"type": "array", "items": {"type": "string", "enum": ["p"]}, "maxItems": 2},
            "c": {"oneOf": [{"const": 1, "title": "one"}]},
            "d": {},
        },
    }
    assert SchemaValidator(answer_schema(form_schema(hostile))).problem({"a": "x"}, "answer") is None
