"""Turns of a conversation: what the model says, what becomes of it, and where a turn stops."""

import pytest

from jeton.model import decision as d
from tests.conformance.case import Data
from tests.conformance.talk import Ended, TalkCase, Talked, agent, calls, mocked, says

LOOK: Data = {"look": {"task": "work"}}
STRICT: Data = {"look": {"task": "work", "input_schema": {
    "type": "object", "required": ["n", "s"], "properties": {"n": {"type": "integer"}, "s": {"type": "string"}},
}}}  # fmt: skip
LEARN: Data = {"learn": {"initial_node": "a", "nodes": {"a": {"task": "work"}}, "transitions": []}}
GATHER: Data = {
    "gather": {
        "initial_node": "a",
        "nodes": {
            "a": {
                "output_mapping": {
                    "output.messages": "[{'role': 'user', 'text': 'Only this: ' + input.message}]",
                    "output.instructions": "'Be brief.'",
                    "output.tools": "['look']",
                }
            }
        },
        "transitions": [],
    }
}
BROKEN: Data = {"gather": {"initial_node": "a", "nodes": {"a": {"task": "boom"}}, "transitions": []}}
BOOM: Data = {"boom": mocked(fail="no luck")}


def in_that_order(seen: Talked) -> None:
    steps = ["begin_turn", "call_workflow", "prepare_turn", "ask_model", "add_move", "extract_turn", "end_turn"]
    assert [tag for tag in seen.tags() if tag in steps] == [*steps[:6], "call_workflow", "end_turn"]
    assert len(seen.decisions(d.AskModel)) == 1


def the_model_saw_the_result(seen: Talked) -> None:
    assert seen.call().result == {"v": 1}
    assert len(seen.decisions(d.AskModel)) == 2


def both_calls_have_a_result(seen: Talked) -> None:
    assert [seen.code(position=0), seen.code(position=1)] == ["NOT_FOUND", ""]
    error = seen.call().error
    assert error is not None
    assert "did you mean 'look'?" in error.message


def every_misfit_is_named(seen: Talked) -> None:
    error = seen.call().error
    assert error is not None
    assert error.code == "INVALID_INPUT"
    assert "input.n" in error.message
    assert '"s"' in error.message
    assert not [x for x in seen.decisions(d.DispatchToken) if x.node == "tool:look"]


def it_was_told_so(seen: Talked) -> None:
    assert seen.code() == "INVALID_INPUT"
    assert not [x for x in seen.decisions(d.DispatchToken) if x.node == "tool:look"]


def the_failure_is_a_result(seen: Talked) -> None:
    error = seen.call().error
    assert error is not None
    assert (error.code, error.retriable) == ("EXECUTION_FAILED", False)
    assert "no luck" in error.message


def no_model_was_asked(seen: Talked) -> None:
    assert not seen.decisions(d.AskModel)


def it_was_asked_twice(seen: Talked) -> None:
    assert len(seen.decisions(d.AskModel)) == 2


def nothing_more_was_run(seen: Talked) -> None:
    assert len([x for x in seen.decisions(d.DispatchToken) if x.node == "tool:look"]) == 2
    assert [ask.last for ask in seen.decisions(d.AskModel)] == [False, False, True]


def the_older_half_left_at_once(seen: Talked) -> None:
    assert [shrink.upto for shrink in seen.decisions(d.ShrinkWindow)] == [2]


def only_one_was_taken(seen: Talked) -> None:
    assert len(seen.turns) == 1


CASES = [
    TalkCase(
        "A01 a turn without tools: assembly, one model call, reply, extraction, completed, in that order",
        agent(
            says("Hello.", "context.instructions == 'Be brief.' && context.messages[0].text == 'Only this: hi'"),
            tools=LOOK,
            persona={"context_assembly": "gather", "memory_extraction": "learn"},
            workflows={**GATHER, **LEARN},
        ),
        ("hi",),
        (Ended(["Hello."]),),
        in_that_order,
    ),
    TalkCase(
        "A02 a sync tool: the turn waits, and the second model call has the result",
        agent(
            calls("look"),
            says("It is one.", "tool_results[0].result.v == 1 && context.messages.exists(m, m.text.contains('v'))"),
            tools=LOOK,
        ),
        ("look",),
        (Ended(["It is one."]),),
        the_model_saw_the_result,
    ),
    TalkCase(
        "A04 the second turn is given the first",
        agent(
            says("I am bob.", "message == 'who?'"),
            says("I said so.", "context.messages.exists(m, m.role == 'assistant' && m.text == 'I am bob.')"),
        ),
        ("who?", "sure?"),
        (Ended(["I am bob."]), Ended(["I said so."])),
    ),
    TalkCase(
        "A04 up to the limit: past recent_turns the older half leaves at once",
        agent(
            says("one"),
            says("two"),
            says("three", "context.messages.exists(m, m.text == 'one')"),
            says("four", "context.messages.exists(m, m.text == 'one')"),
            says("five", "!context.messages.exists(m, m.text == 'two') && context.messages.exists(m, m.text == '4')"),
            persona={"recent_turns": 3},
        ),
        ("1", "2", "3", "4", "5"),
        tuple(Ended([text]) for text in ("one", "two", "three", "four", "five")),
        the_older_half_left_at_once,
    ),
    TalkCase(
        "A08 an unknown tool is an error for the model, and the turn goes on",
        agent(calls("lok", "look"), says("Sorry.", "tool_results[0].error.code == 'NOT_FOUND'"), tools=LOOK),
        ("look",),
        (Ended(["Sorry."], issues={"tool_failures": 1}),),
        both_calls_have_a_result,
    ),
    TalkCase(
        "A08 an input that does not fit is an error with every misfit",
        agent(
            {"tool_calls": [{"name": "look", "input": {"n": "x"}}]},
            says("Sorry.", "tool_results[0].error.code == 'INVALID_INPUT'"),
            tools=STRICT,
        ),
        ("look",),
        (Ended(["Sorry."], issues={"tool_failures": 1}),),
        every_misfit_is_named,
    ),
    TalkCase(
        "A08 arguments that are no JSON are an error for the model",
        agent({"tool_calls": [{"name": "look", "raw": "{n: 1"}]}, says("Sorry."), tools=LOOK),
        ("look",),
        (Ended(["Sorry."], issues={"tool_failures": 1}),),
        it_was_told_so,
    ),
    TalkCase(
        "A09 a tool that fails is told to the model, and counted",
        agent(
            calls("boom"),
            says("It broke.", "tool_results[0].error.code == 'EXECUTION_FAILED'"),
            tools={"boom": {"task": "boom"}},
            tasks=BOOM,
        ),
        ("try",),
        (Ended(["It broke."], issues={"tool_failures": 1}),),
        the_failure_is_a_result,
    ),
    TalkCase(
        "an assembly chooses among the persona's tools, and adds none",
        agent(
            calls("wire"),
            says("There is none.", "context.tools == ['look'] && tool_results[0].error.code == 'NOT_FOUND'"),
            tools={"look": {"task": "work"}, "more": {"task": "work"}},
            others={"wire": {"task": "work"}},
            persona={"context_assembly": "assemble"},
            workflows={
                "assemble": {
                    "initial_node": "a",
                    "nodes": {
                        "a": {
                            "output_mapping": {
                                "output.messages": "[{'role': 'user', 'text': input.message}]",
                                "output.tools": "['look', 'wire']",
                            }
                        }
                    },
                    "transitions": [],
                }
            },
        ),
        ("go",),
        (Ended(["There is none."], issues={"tool_failures": 1}),),
    ),
    TalkCase(
        "A10 an assembly that fails fails the turn before any model call; the next one is as good as before",
        agent(says("Hello."), persona={"context_assembly": "gather"}, workflows=BROKEN, tasks=BOOM),
        ("hi",),
        (Ended([], "failed", "assembly_failed"),),
        no_model_was_asked,
    ),
    TalkCase(
        "A10 an extraction that fails flags the turn",
        agent(
            says("Hello."),
            persona={"memory_extraction": "learn"},
            workflows={"learn": BROKEN["gather"]},
            tasks=BOOM,
        ),
        ("hi",),
        (Ended(["Hello."], issues={"memory_extraction_failed": True}),),
    ),
    TalkCase(
        "no text and no call: it is asked once more",
        agent(says(""), says("Here.", "context.messages.exists(m, m.text == 'Please answer.')")),
        ("hi",),
        (Ended(["Here."]),),
        it_was_asked_twice,
    ),
    TalkCase(
        "no text and no call, twice: the turn fails, and the next is as good as before",
        agent(says(""), says(""), says("Here.")),
        ("hi", "again"),
        (Ended([], "failed", "empty_answer"), Ended(["Here."])),
    ),
    TalkCase(
        "an answer that was cut for length is flagged",
        agent({"text": "It is", "finish": "length"}),
        ("hi",),
        (Ended(["It is"], issues={"truncated": True}),),
    ),
    TalkCase(
        "a call that was cut for length is not run",
        agent({**calls("look"), "finish": "length"}, says("Later."), tools=LOOK),
        ("hi",),
        (Ended(["Later."], issues={"truncated": True, "tool_failures": 1}),),
        it_was_told_so,
    ),
    TalkCase(
        "at the limit of moves the model is asked once more, without tools",
        agent(
            calls("look"),
            calls("look"),
            says("Enough.", "size(context.tools) == 0"),
            tools=LOOK,
            persona={"max_moves_per_turn": 2},
        ),
        ("go",),
        (Ended(["Enough."], issues={"move_limit": True}),),
        nothing_more_was_run,
    ),
    TalkCase(
        "at the limit of moves, calls are not run, and their text is the reply",
        agent(calls("look"), calls("look"), calls("look", text="Well."), tools=LOOK, persona={"max_moves_per_turn": 2}),
        ("go",),
        (Ended(["Well."], issues={"move_limit": True}),),
        nothing_more_was_run,
    ),
    TalkCase(
        "at the limit of moves, calls without a text fail the turn",
        agent(calls("look"), calls("look"), calls("look"), tools=LOOK, persona={"max_moves_per_turn": 2}),
        ("go",),
        (Ended([], "failed", "move_limit", {"move_limit": True}),),
        nothing_more_was_run,
    ),
    TalkCase(
        "an error of the model that passes is tried again",
        agent(
            {"error": "busy", "transient": True},
            says("Hello."),
            profiles={
                "fake": {
                    "provider": "scripted",
                    "script": [{"error": "busy", "transient": True}, {"text": "Hello."}],
                    "retry_policy": {"max_attempts": 2, "initial_delay_ms": 1},
                }
            },
        ),
        ("hi",),
        (Ended(["Hello."]),),
    ),
    TalkCase(
        "an error of the model that does not pass fails the turn, and the next is as good as before",
        agent({"error": "no such model"}, says("Hello.")),
        ("hi", "again"),
        (Ended([], "failed", "model_error"), Ended(["Hello."])),
    ),
    TalkCase(
        "a turn that takes too long fails",
        agent(
            calls("slow"),
            tools={"slow": {"task": "slow"}},
            tasks={"slow": mocked({}, 5_000)},
            persona={"turn_timeout_ms": 50},
        ),
        ("go",),
        (Ended([], "failed", "timed_out", {"tool_failures": 1}),),
        lambda seen: _cancelled(seen),
    ),
    TalkCase(
        "a tool that takes too long is an error for the model",
        agent(
            calls("slow"),
            says("Too slow.", "tool_results[0].error.code == 'TIMEOUT'"),
            tools={"slow": {"task": "slow", "timeout_ms": 50}},
            tasks={"slow": mocked({}, 5_000)},
        ),
        ("go",),
        (Ended(["Too slow."], issues={"tool_failures": 1}),),
    ),
    TalkCase(
        "a request that is too long has its older turns summarised once",
        agent(
            says("one"),
            {"error": "too long", "type": "context_too_long"},
            says("two", "context.messages[0].text.startsWith('Summary of the conversation') && message == '2'"),
            persona={"compaction": "shorten"},
            workflows={
                "shorten": {
                    "initial_node": "a",
                    "nodes": {"a": {"output_mapping": {"output.summary": "'they counted'"}}},
                    "transitions": [],
                }
            },
        ),
        ("1", "2"),
        (Ended(["one"]), Ended(["two"])),
        lambda seen: _shrunk(seen, "compacted"),
    ),
    TalkCase(
        "older turns that cannot be summarised are left out, and a line says so",
        agent(
            says("one"),
            {"error": "too long", "type": "context_too_long"},
            says("two", "context.messages[0].text.contains('left out') && message == '2'"),
            persona={"compaction": "shorten"},
            workflows={"shorten": BROKEN["gather"]},
            tasks=BOOM,
        ),
        ("1", "2"),
        (Ended(["one"]), Ended(["two"], issues={"compaction_failed": True})),
        lambda seen: _shrunk(seen, "left_out"),
    ),
]
ROWS = [pytest.param(case, id=case.id) for case in CASES]


def _cancelled(seen: Talked) -> None:
    assert seen.code() == "CANCELLED"


def _shrunk(seen: Talked, why: str) -> None:
    assert [shrink.why for shrink in seen.decisions(d.ShrinkWindow)] == [why]
