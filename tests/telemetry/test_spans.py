"""Spans from journals: their ids, their tree, and what they say."""

from pathlib import Path
from typing import Any

import opentelemetry.semconv._incubating.attributes.gen_ai_attributes as conventions
import pytest

import jeton
from jeton.model.ids import RunId
from jeton.model.trace_parent import TraceParent, parse_traceparent
from jeton.telemetry import names
from jeton.telemetry.collect import facts_of, spans_below
from jeton.telemetry.span import Span, trace_id_of
from jeton.telemetry.spans import spans_of

SCRIPT: list[dict[str, Any]] = [
    {"when": "message == 'Hi'", "text": "Hello!"},
    {"when": "moves == 0", "tool_calls": [{"name": "refund", "input": {"order": "A-17"}}, {"name": "gone"}]},
    {"text": "Done.", "usage": {"input_tokens": 40, "output_tokens": 3}},
]
FLAKY: dict[str, Any] = {"kind": "mock", "implementation": {"output": {}, "fail": {"times": 1}}}
LIBRARY: dict[str, Any] = {
    "model_profiles": {
        "fake": {"provider": "scripted", "script": SCRIPT},
        "other": {"provider": "scripted", "model": "other-1", "script": [{"text": "Yes"}]},
    },
    "tasks": {"pay": {"steps": [{"ref": "pay", "action": {"kind": "mock", "implementation": {"output": {"r": 1}}}}]}},
    "tools": {"refund": {"task": "pay", "needs_approval": True}},
    "personas": {"helper": {"model_profile": "fake", "tools": ["refund"]}},
    "agents": {"bob": {"persona": "helper"}},
    "workflows": {
        "outer": {
            "initial_node": "begin",
            "nodes": {
                "begin": {},
                "call": {"workflow": "inner"},
                "ask": {"agent": "bob", "input_mapping": {"message": "'Hi'"}},
            },
            "transitions": [{"from": "begin", "to": "call"}, {"from": "call", "to": "ask"}],
        },
        "inner": {
            "initial_node": "flaky",
            "nodes": {
                "flaky": {
                    "task": {
                        "steps": [{"ref": "a", "action": FLAKY, "on_failure": "retry"}],
                        "retry": {"max_attempts": 2, "backoff": "none", "initial_delay_ms": 1},
                    }
                },
                "write": {"action": {"kind": "llm", "implementation": {"model_profile": "other", "prompt": "Hm?"}}},
            },
            "transitions": [{"from": "flaky", "to": "write"}],
        },
        "broken": {
            "initial_node": "no",
            "nodes": {"no": {"action": {"kind": "fail", "implementation": {"type": "sad", "message": "No."}}}},
        },
    },
}


def named(spans: list[Span], name: str) -> Span:
    (found,) = [span for span in spans if span.name == name]
    return found


async def run(engine: jeton.Engine, workflow: str) -> tuple[RunId, list[Span]]:
    await engine.deploy(LIBRARY)
    started = await engine.start(workflow, {})
    await started.result()
    return started.id, [span async for span in spans_below(engine, started.id)]


async def talk(engine: jeton.Engine) -> jeton.Conversation:
    await engine.deploy(LIBRARY)
    conversation = await engine.converse("bob")
    turn = await conversation.send("I want my money back.")
    await engine.idle()
    await conversation.answer({"decision": "approve"})
    assert (await turn.result()).status == "completed"
    return conversation


async def test_a_run_with_all_it_called_is_one_tree(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        root, spans = await run(engine, "outer")
    assert {span.trace_id for span in spans} == {trace_id_of(root)}
    ids = [span.span_id for span in spans]
    assert len(ids) == len(set(ids))
    assert [span.name for span in spans if span.parent_id is None] == ["run outer"]
    assert all(span.parent_id in ids for span in spans if span.parent_id is not None)
    parents = {span.name: next((each.name for each in spans if each.span_id == span.parent_id), None) for span in spans}
    assert parents == {
        "run outer": None,
        "call": "run outer",
        "run inner": "call",
        "flaky": "run inner",
        "attempt 1": "flaky",
        "attempt 2": "flaky",
        "write": "run inner",
        "chat other-1": "write",
        "ask": "run outer",
        "invoke_agent bob": "ask",
        "chat scripted": "invoke_agent bob",
    }
    by_id = {span.span_id: span for span in spans}
    for span in spans:
        above = span if span.parent_id is None else by_id[span.parent_id]
        assert above.start_ms <= span.start_ms <= span.end_ms <= above.end_ms


async def test_attempts_and_model_calls_of_a_run(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        _, spans = await run(engine, "outer")
    first, second, flaky = (named(spans, name) for name in ("attempt 1", "attempt 2", "flaky"))
    assert (first.status, first.attributes[names.ERROR]) == ("error", "mock_failure")
    assert (second.status, flaky.status, flaky.attributes[names.ATTEMPT]) == ("unset", "unset", 2)
    chat = named(spans, "chat other-1")
    assert chat.kind == "client"
    assert chat.attributes[names.REQUEST_MODEL] == "other-1"
    assert chat.attributes[names.OUTPUT_TOKENS] == 1


async def test_a_failed_run_says_why(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        _, spans = await run(engine, "broken")
    for span in spans:
        assert (span.status, span.message, span.attributes[names.ERROR]) == ("error", "No.", "sad")
    assert [span.name for span in spans] == ["no", "run broken"]


async def test_a_conversation_has_the_attributes_of_the_conventions(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        conversation = await talk(engine)
        spans = [span async for span in spans_below(engine, conversation.id)]
    turn = named(spans, "invoke_agent bob")
    assert (turn.kind, turn.parent_id, turn.attributes[names.OPERATION]) == ("internal", None, "invoke_agent")
    first, last = [span for span in spans if span.name == "chat scripted"]
    assert last.attributes.items() >= {
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "scripted"),
        ("gen_ai.request.model", "scripted"),
        ("gen_ai.agent.name", "bob"),
        ("gen_ai.conversation.id", conversation.id),
        ("gen_ai.usage.input_tokens", 40),
        ("gen_ai.usage.output_tokens", 3),
    }
    tool, gone = named(spans, "execute_tool refund"), named(spans, "execute_tool gone")
    assert tool.attributes[names.OPERATION] == "execute_tool"
    assert tool.attributes[names.TOOL_CALL] == "call_1_0_0"
    assert [event.name for event in tool.events] == ["gate.opened", "gate.answered"]
    assert (gone.status, gone.attributes[names.ERROR], gone.attributes[names.TOOL_CALL]) == (
        "error",
        "NOT_FOUND",
        "call_1_0_1",
    )
    assert {span.parent_id for span in (first, last, tool, gone)} == {turn.span_id}


async def test_contents_are_there_only_if_asked_for(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        conversation = await talk(engine)
        without = [span async for span in spans_below(engine, conversation.id)]
        spans = [span async for span in spans_below(engine, conversation.id, contents=True)]
    assert "money" not in str(without)
    assert "Done." not in str(without)
    assert "A-17" not in str(without)
    assert "money" in str(named(spans, "invoke_agent bob").attributes[names.INPUT_MESSAGES])
    tool = named(spans, "execute_tool refund").attributes
    assert (tool[names.TOOL_ARGUMENTS], tool[names.TOOL_RESULT]) == ('{"order":"A-17"}', '{"r":1}')
    assert [span.span_id for span in without] == [span.span_id for span in spans]


async def test_spans_are_the_same_however_the_journal_is_read(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        conversation = await talk(engine)
        facts = await facts_of(engine, conversation.id)
        entries = [entry async for entry in engine.journal(conversation.id)]
    whole = list(spans_of(facts, entries))
    assert len(whole) == 5
    for cut in range(-1, len(entries)):
        assert [*spans_of(facts, entries[: cut + 1]), *spans_of(facts, entries, after=cut)] == whole


async def test_a_fork_has_only_what_it_did_itself(tmp_path: Path) -> None:
    async with jeton.open(tmp_path / "store.db") as engine:
        conversation = await talk(engine)
        await (await conversation.send("Hi")).result()
        again = await conversation.fork(2)
        await engine.idle()
        spans = [span async for span in spans_below(engine, again.id)]
    assert [span.name for span in spans] == ["chat scripted", "invoke_agent bob"]
    assert spans[1].attributes[names.TURN] == 2
    assert {span.trace_id for span in spans} == {trace_id_of(again.id)}


async def test_a_run_goes_on_with_the_trace_it_was_started_under(tmp_path: Path) -> None:
    header = f"00-{TRACE}-{PARENT}-01"
    library: dict[str, Any] = {
        "workflows": {
            "caller": {"initial_node": "call", "nodes": {"call": {"workflow": "called"}}},
            "called": {"initial_node": "a", "nodes": {"a": {}}},
            "heard": {"initial_node": "a", "nodes": {"a": {}}},
        },
        "triggers": {"ended": {"type": "run_finished", "workflow": "caller", "start": "heard"}},
    }
    async with jeton.open(tmp_path / "store.db") as engine:
        await engine.deploy(library)
        plain = await engine.start("caller")
        root = await engine.start("caller", traceparent=header)
        other = await engine.start("caller", traceparent="not one")
        for each in (plain, root, other):
            await each.result(20)
        await engine.idle()
        fork = await engine.fork(root.id, 0)
        await engine.idle()
    async with jeton.open(tmp_path / "store.db") as engine:  # it is stored
        found = {run: [span async for span in spans_below(engine, run.id)] for run in (plain, root, other, fork)}
        again = [span async for span in spans_below(engine, root.id)]
        heard = [
            span for each in await engine.list(workflow="heard") async for span in spans_below(engine, each.run_id)
        ]
    assert again == found[root], "exported twice, the same spans"
    assert {span.trace_id for span in found[root]} == {TRACE}
    by_name = {span.name: span for span in found[root]}
    assert by_name["run caller"].parent_id == PARENT
    assert by_name["run called"].parent_id == by_name["call"].span_id
    for run in (plain, other, fork):
        assert {span.trace_id for span in found[run]} == {trace_id_of(run.id)}
        assert next(span for span in found[run] if span.name == "run caller").parent_id is None
    [link] = next(span for span in found[fork] if span.name == "run caller").links
    assert (link.trace_id, link.span_id) == (TRACE, by_name["run caller"].span_id)
    causes = {TRACE, *(trace_id_of(each.id) for each in (plain, other, fork))}
    assert {each.trace_id for span in heard for each in span.links} == causes


TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.mark.parametrize(
    ("header", "valid"),
    [
        pytest.param(f"00-{TRACE}-{PARENT}-01", True, id="the usual form"),
        pytest.param(f" 00-{TRACE}-{PARENT}-00 ", True, id="not sampled, with spaces"),
        pytest.param(f"01-{TRACE}-{PARENT}-01-more", True, id="a later version may have more"),
        pytest.param(f"00-{TRACE}-{PARENT}-01-more", False, id="this one may not"),
        pytest.param(f"ff-{TRACE}-{PARENT}-01", False, id="no version"),
        pytest.param(f"00-{'0' * 32}-{PARENT}-01", False, id="no trace"),
        pytest.param(f"00-{TRACE}-{'0' * 16}-01", False, id="no span"),
        pytest.param(f"00-{TRACE.upper()}-{PARENT}-01", False, id="capitals"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_the_header_of_a_request(header: str, valid: bool) -> None:
    assert parse_traceparent(header) == (TraceParent(TRACE, PARENT) if valid else None)


@pytest.mark.parametrize("name", [each for each in vars(names).values() if str(each).startswith("gen_ai.")])
def test_names_are_those_of_the_conventions(name: str) -> None:
    assert name in vars(conventions).values()
