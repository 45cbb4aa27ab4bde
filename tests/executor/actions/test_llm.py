"""`llm`: prompts, structured output, tools that are only described, embeddings, and failures."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

import jeton
from jeton.executor import check_implementation
from jeton.executor.task.run_task import TaskResult
from jeton.model.definition.profile import Prices
from jeton.model.definition.task import Action
from jeton.model.definition.workflow import Library
from jeton.model.failure import TaskFailed
from jeton.model.json import JsonObject
from jeton.model.note import TokensNote
from jeton.testing import simulate
from tests.executor.models.given_model import Bench, run_now, scripted

SENTIMENT: JsonObject = {
    "type": "object",
    "properties": {"mood": {"enum": ["good", "bad"]}},
    "required": ["mood"],
    "additionalProperties": False,
}
USAGE: JsonObject = {"usage": {"input_tokens": 9, "output_tokens": 4}}


def asked(bench: Bench, implementation: JsonObject, input: JsonObject | None = None) -> TaskResult:
    """What an `llm` action of the profile `fake` gives."""
    return run_now(bench.result(Action("llm", {"model_profile": "fake", **implementation}), input or {}))


def succeeded(found: TaskResult) -> JsonObject:
    assert isinstance(found, dict), found
    return found


def failed(found: TaskResult) -> TaskFailed:
    assert isinstance(found, TaskFailed), found
    return found


def when(condition: str, text: str = "yes") -> Bench:
    """A model that answers if a condition over what it is given holds."""
    return Bench(fake=scripted({"text": text, "when": condition}))


def test_a_template_sees_the_input_and_the_answer_has_text_and_usage() -> None:
    bench = Bench(fake=scripted({"text": "Hi", "when": "message == 'Greet Ada.'", **USAGE}, prices=Prices(1, 2)))
    found = asked(bench, {"prompt": "Greet {{ input.name }}."}, {"name": "Ada"})
    assert found == {"text": "Hi", "usage": {"input_tokens": 9, "output_tokens": 4}}
    assert bench.tokens == [TokensNote("s0", "fake", 9, 4, 17)]


def test_a_prompt_by_name_with_instructions_and_examples() -> None:
    condition = (
        "context.instructions == 'Be brief.' && context.messages.map(m, m.role) == ['user', 'assistant', 'user']"
        " && context.messages[1].text == 'red' && message == 'Colour of grass?'"
    )
    bench = when(condition)
    prompts: JsonObject = {
        "colour": {
            "template": "Colour of {{ input.thing }}?",
            "system": "Be brief.",
            "examples": [{"input": "Colour of blood?", "output": "red"}],
        }
    }
    bench.library = msgspec.convert({**msgspec.to_builtins(bench.library), "prompts": prompts}, Library)
    assert succeeded(asked(bench, {"prompt": "colour"}, {"thing": "grass"}))["text"] == "yes"


@pytest.mark.parametrize(
    "implementation",
    [
        pytest.param({"prompt": "Go on.", "system": "As {{ input.who }}."}, id="beside a template"),
        pytest.param({"prompt": {"template": "Go on.", "system": "As {{ input.who }}."}}, id="in the prompt"),
        pytest.param(
            {"prompt": {"template": "Go on.", "system": "never"}, "system": "As {{ input.who }}."}, id="instead of it"
        ),
    ],
)
def test_instructions(implementation: JsonObject) -> None:
    found = asked(when("context.instructions == 'As Bob.'"), implementation, {"who": "Bob"})
    assert succeeded(found)["text"] == "yes"


def test_a_value_that_fits_the_schema() -> None:
    bench = Bench(fake=scripted({"text": '{"mood": "so so"}', **USAGE}, {"text": '{"mood": "good"}', **USAGE}))
    found = asked(bench, {"prompt": "How is it?", "output_schema": SENTIMENT})
    usage = {"input_tokens": 18, "output_tokens": 8}
    assert found == {"text": '{"mood": "good"}', "data": {"mood": "good"}, "usage": usage}


def test_a_value_that_never_fits() -> None:
    vague: JsonObject = {"text": "I feel fine"}
    bench = Bench(fake=scripted(vague, vague, vague))
    problem = failed(asked(bench, {"prompt": "How is it?", "output_schema": SENTIMENT}))
    assert (problem.type, problem.transient) == ("output_invalid", False)


def test_tools_are_described_and_their_calls_returned() -> None:
    calls: list[Any] = [{"name": "add", "input": {"a": 1}}, {"name": "add", "raw": "{a"}]
    bench = Bench(fake=scripted({"tool_calls": calls, "when": "context.tools == ['add']"}))
    plain: Any = msgspec.to_builtins(bench.library)
    tool = {"name": "add", "target": {"type": "task", "task": "sum"}, "description": "add numbers"}
    tools = {"add": tool, "other": {**tool, "name": "other"}}
    bench.library = msgspec.convert({**plain, "tools": tools}, Library)
    found = succeeded(asked(bench, {"prompt": "One and one?", "tools": ["add"], "output_schema": SENTIMENT}))
    assert (found["text"], found["tool_calls"]) == ("", calls)
    assert "data" not in found


@pytest.mark.parametrize(
    ("script", "type", "transient"),
    [
        pytest.param({"error": "down", "transient": True}, "model_error", True, id="a provider that is down"),
        pytest.param({"error": "no"}, "model_error", False, id="a provider that refuses"),
        pytest.param({"text": "I will not.", "finish": "refused"}, "model_declined", False, id="a model that declines"),
    ],
)
def test_failures(script: JsonObject, type: str, transient: bool) -> None:
    problem = failed(asked(Bench(fake=scripted(*(script,) * 4)), {"prompt": "Say it."}))
    assert (problem.type, problem.transient) == (type, transient)


def test_an_answer_that_was_cut_says_so() -> None:
    found = asked(Bench(fake=scripted({"text": "Once upon", "finish": "length", **USAGE})), {"prompt": "A story!"})
    assert succeeded(found)["truncated"] is True


def test_a_name_that_the_template_does_not_get() -> None:
    problem = failed(asked(when("true"), {"prompt": "Greet {{ input.name }}."}))
    assert (problem.type, problem.retry) == ("template_error", False)


def test_every_call_begins_with_a_whole_script() -> None:
    bench = Bench(fake=scripted({"text": "first"}, {"text": "second"}))
    assert [succeeded(asked(bench, {"prompt": "Go on."}))["text"] for _ in range(2)] == ["first", "first"]


def test_the_answer_is_streamed_to_those_who_listen_to_the_run() -> None:
    bench = Bench(fake=scripted({"text": "Once upon a time there was"}))
    asked(bench, {"prompt": "A story!"})
    assert (bench.heard, len(bench.deltas)) == ("Once upon a time there was", 4)


def test_vectors() -> None:
    bench = Bench(fake=scripted(prices=Prices(100, 0)))
    given: JsonObject = {"texts": ["refund the order", "refund this order", "snow in Oslo"]}
    found = succeeded(asked(bench, {"operation": "embed"}, given))
    one, similar, other = msgspec.convert(found["vectors"], tuple[list[float], list[float], list[float]])
    near, far = (sum(a * b for a, b in zip(one, each, strict=True)) for each in (similar, other))
    assert near > 0.5 > far
    assert found["usage"] == {"input_tokens": 12, "output_tokens": 0}
    assert bench.tokens == [TokensNote("s0", "fake", 12, 0, 1200)]


@pytest.mark.parametrize("given", [{}, {"texts": "one"}, {"texts": [1]}])
def test_vectors_of_something_else(given: JsonObject) -> None:
    assert failed(asked(Bench(fake=scripted()), {"operation": "embed"}, given)).type == "input_invalid"


@pytest.mark.parametrize(
    ("implementation", "path"),
    [
        pytest.param({}, "", id="no prompt"),
        pytest.param({"prompt": "{{ input."}, "prompt", id="no template"),
        pytest.param(
            {"prompt": {"template": "x", "system": "{% if %}"}}, "prompt.system", id="no template in a prompt"
        ),
        pytest.param({"prompt": "a b", "output_schema": {"type": "objct"}}, "output_schema", id="no schema"),
        pytest.param({"operation": "embed", "prompt": "a b"}, "prompt", id="a prompt for vectors"),
    ],
)
def test_what_cannot_be_an_implementation(implementation: JsonObject, path: str) -> None:
    problems = check_implementation(Action("llm", {"model_profile": "fake", **implementation}))
    assert [problem.path for problem in problems] == [path]


FLOW: JsonObject = {
    "model_profiles": {
        "fake": {"provider": "scripted", "script": [{"text": "a haiku", "when": "message == 'Write a haiku.'"}]}
    },
    "prompts": {"write": {"template": "Write a {{ input.form }}."}},
    "flows": {
        "poet": {
            "nodes": {
                "in": {"type": "trigger"},
                "ask": {"type": "llm", "data": {"model_profile": "fake", "prompt": "write"}},
            },
            "connections": [{"from": "in", "from_output": "form", "to": "ask", "to_input": "form"}],
            "output_mapping": {"poem": "context.text"},
        }
    },
}
WORKFLOW: JsonObject = {
    **{key: FLOW[key] for key in ("model_profiles", "prompts")},
    "workflows": {
        "poet": {
            "initial_node": "ask",
            "nodes": {
                "ask": {
                    "action": {"kind": "llm", "implementation": {"model_profile": "fake", "prompt": "write"}},
                    "output_mapping": {"output.poem": "result.text"},
                }
            },
        }
    },
}


@pytest.mark.parametrize("library", [pytest.param(FLOW, id="a flow"), pytest.param(WORKFLOW, id="a workflow")])
async def test_in_a_run(library: JsonObject, tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library)
        record = await (await engine.start("poet", {"form": "haiku"})).result()
    assert (record.status, record.output) == ("completed", {"poem": "a haiku"}), record.error


def test_a_scripted_model_is_not_outside() -> None:
    assert simulate(WORKFLOW, {"form": "haiku"}).output == {"poem": "a haiku"}
