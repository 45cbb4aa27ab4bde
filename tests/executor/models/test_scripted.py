"""The scripted provider: which entry answers, what its conditions see, and how its text comes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.model.chat import (
    AssistantMessage,
    CalledTool,
    ModelMessage,
    ScriptPlace,
    TokenUsage,
    ToolCall,
    ToolError,
    ToolMessage,
    ToolResult,
    ToolSpec,
    UserMessage,
)
from jeton.model.json import JsonObject
from jeton.model.state.ranges import to_ranges
from tests.executor.models.given_model import Bench, answered, asking, refused, scripted

HISTORY: tuple[ModelMessage, ...] = (
    UserMessage("what is it like?"),
    AssistantMessage("let me see", (ToolCall("1", "weather", {"city": "Oslo"}), ToolCall("2", "clock", {}))),
    ToolMessage(
        (ToolResult("1", "weather", {"degrees": 7}), ToolResult("2", "clock", error=ToolError("TIMEOUT", "slow")))
    ),
)
RESULTS: tuple[JsonObject, ...] = ({"name": "weather", "result": {"degrees": 7}},)
PLACE = ScriptPlace(message="what is it like?", moves=1, tool_results=RESULTS)
TOOL = ToolSpec("weather", "the weather of a city", {"type": "object"})


@pytest.mark.parametrize(
    ("script", "used", "text"),
    [
        pytest.param([{"text": "a"}, {"text": "b"}], (), "a", id="the first entry"),
        pytest.param([{"text": "a"}, {"text": "b"}], (0,), "b", id="the next, when it is used up"),
        pytest.param([{"text": "a", "when": "moves == 1"}, {"text": "b"}], (), "a", id="a condition that holds"),
        pytest.param([{"text": "a", "when": "moves == 2"}, {"text": "b"}], (), "b", id="a condition that does not"),
        pytest.param([{"text": "a", "when": False}, {"text": "b"}], (), "b", id="a constant condition"),
        pytest.param(
            [{"text": "a", "when": "tool_results[0].nothing == 1"}, {"text": "b"}], (), "b", id="a missing key is false"
        ),
        pytest.param([{"text": "a", "when": "message.contains('like')"}], (), "a", id="the chat message"),
        pytest.param([{"text": "a", "when": "tool_results[0].result.degrees == 7"}], (), "a", id="results of tools"),
        pytest.param([{"text": "a", "when": "context.instructions == 'be kind'"}], (), "a", id="instructions"),
        pytest.param([{"text": "a", "when": "context.tools == ['weather']"}], (), "a", id="names of tools"),
        pytest.param(
            [{"text": "a", "when": "context.messages.map(m, m.role) == ['user', 'assistant', 'tool']"}],
            (),
            "a",
            id="roles of messages",
        ),
        pytest.param(
            [{"text": "a", "when": "context.messages[1].text == 'let me see'"}], (), "a", id="texts of messages"
        ),
        pytest.param(
            [{"text": "a", "when": """context.messages[2].text.contains('{"degrees":7}\\n{"code":"TIMEOUT\"')"""}],
            (),
            "a",
            id="results are lines of JSON",
        ),
    ],
)
def test_the_entry_that_answers(script: list[JsonObject], used: tuple[int, ...], text: str) -> None:
    place = ScriptPlace(to_ranges(used), PLACE.message, PLACE.moves, PLACE.tool_results)
    request = asking(messages=HISTORY, instructions="be kind", tools=(TOOL,), script=place)
    answer = answered(Bench(fake=scripted(*script)).call(request))
    assert (answer.text, answer.profile, answer.model) == (text, "fake", "scripted")
    assert answer.used == (next(index for index, entry in enumerate(script) if entry["text"] == text),)


def test_calls_of_tools_with_text() -> None:
    calls: list[JsonObject] = [{"name": "weather", "input": {"city": "Oslo"}}, {"name": "clock", "raw": "{cut"}]
    answer = answered(Bench(fake=scripted({"tool_calls": [*calls], "text": "wait"})).call(asking()))
    assert answer.text == "wait"
    assert answer.calls == (CalledTool("weather", {"city": "Oslo"}), CalledTool("clock", raw="{cut"))


def test_a_script_without_an_entry_left_fails() -> None:
    failed = refused(Bench(fake=scripted({"text": "a"})).call(asking(used=(0,))))
    assert (failed.type, failed.transient, failed.used) == ("script_exhausted", False, ())


def test_calls_beside_the_dialogue_are_answered_by_entries_with_a_condition_only() -> None:
    bench = Bench(fake=scripted({"text": "a"}, {"text": "b", "when": "context.instructions == 'extract'"}))
    own = ScriptPlace(own=True)
    assert answered(bench.call(asking(script=own, instructions="extract"))).used == (1,)
    assert refused(bench.call(asking(script=own, instructions="summarize"))).type == "script_exhausted"


@pytest.mark.parametrize(
    ("entry", "type", "says"),
    [
        pytest.param({"text": "a", "when": "1 / moves == 1"}, "expression_error", "script[0].when", id="evaluation"),
        pytest.param({"text": "a", "when": "message +"}, "expression_error", "script[0].when", id="syntax"),
        pytest.param({"text": "a", "when": "mesage == ''"}, "expression_error", "mesage", id="unknown name"),
        pytest.param({"txt": "a"}, "bad_script", "script[0]", id="unknown key"),
        pytest.param({"text": 7}, "bad_script", "script[0]", id="wrong type"),
    ],
)
def test_broken_entries_fail_the_call(entry: JsonObject, type: str, says: str) -> None:
    failed = refused(Bench(fake=scripted(entry)).call(asking()))
    assert (failed.type, failed.transient) == (type, False)
    assert says in failed.message


def test_usage_is_as_written_or_an_estimate() -> None:
    script: list[JsonObject] = [
        {"text": "x" * 40, "usage": {"input_tokens": 7, "output_tokens": 3}},
        {"text": "x" * 40},
    ]
    bench = Bench(fake=scripted(*script))
    assert answered(bench.call(asking())).usage == TokenUsage(7, 3)
    assert answered(bench.call(asking(text="y" * 80, used=(0,)))).usage == TokenUsage(20, 10)


@given(st.text(max_size=100), st.integers(0, 1000))
def test_text_comes_in_small_pieces_over_the_delay(text: str, delay: int) -> None:
    bench = Bench(fake=scripted({"text": text, "delay_ms": delay}))
    answer = answered(bench.call(asking(turn=3, move=2)))
    assert bench.heard == answer.text == text
    assert all(0 < len(delta.text) <= 8 for delta in bench.deltas)
    assert {(delta.turn, delta.move, delta.delivery) for delta in bench.deltas} <= {(3, 2, 1)}
    assert bench.clock.now() == delay


def test_embeddings_of_similar_texts_are_near_each_other() -> None:
    from jeton.executor.models.scripted import _letters  # pyright: ignore[reportPrivateUsage]  (no call of it yet)

    one, similar, other = _letters("refund the order"), _letters("refund this order"), _letters("snow in Oslo")
    near, far = (sum(a * b for a, b in zip(one, each, strict=True)) for each in (similar, other))
    assert near > 0.5 > far
