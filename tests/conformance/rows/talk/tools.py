"""Tools of an agent: async, exclusive, many at a time, workflows, and other agents."""

from typing import Any

import pytest

from jeton.model import decision as d
from tests.conformance.case import Data
from tests.conformance.talk import Ended, On, TalkCase, Talked, agent, calls, mocked, says, sends

LATER: Data = {"later": {"task": "slow", "async": True}}
SLOW: Data = {"slow": mocked({"v": "late"}, 120)}
SIDE: Data = {
    "side": {
        "initial_node": "a",
        "nodes": {"a": {"output_mapping": {"output.got": "input.n"}}},
        "transitions": [],
    }
}
BREAKS: Data = {"side": {"initial_node": "a", "nodes": {"a": {"task": "boom"}}, "transitions": []}}
ASKS_EVE: Data = {"tool_calls": [{"name": "ask_eve", "input": {"message": "what is it?"}}]}


def with_eve(*script: Data, eve: Data, bob: tuple[Data, ...], **more: Any) -> Data:
    """Bob, who may ask eve."""
    return agent(
        *bob,
        tools={"ask_eve": {"agent": "eve", **eve}, **more.pop("tools", {})},
        profiles={"other": {"provider": "scripted", "script": list(script)}},
        personas={"wise": {"instructions": "Be wise.", "model_profile": "other", **more.pop("wise", {})}},
        agents={"eve": {"persona": "wise"}},
        **more,
    )


def at_work(seen: Talked, node: str) -> int:
    """The most calls of a tool that were under way at once."""
    most, now = 0, set[int]()
    for decision in seen.decisions():
        if isinstance(decision, d.DispatchToken) and decision.node == node:
            now.add(decision.token)
        elif isinstance(decision, d.RouteToken) and decision.ends is not None:
            now.discard(decision.token)
        most = max(most, len(now))
    return most


def the_reply_came_first(seen: Talked) -> None:
    tags = [tag for tag in seen.tags() if tag in ("start_async", "linger_turn", "keep_async", "add_move", "end_turn")]
    assert tags == ["add_move", "start_async", "linger_turn", "keep_async", "add_move", "end_turn"]
    assert seen.call().result == {"status": "started", "call": "call_1_0_0"}
    assert seen.call().later == {"v": "late"}


def it_was_asked_for_a_reply(seen: Talked) -> None:
    assert [bool(ask.told) for ask in seen.decisions(d.AskModel)] == [False, False, True]


def told_once_each_on_its_own_turn(seen: Talked) -> None:
    told = [(ask.turn, len(ask.told)) for ask in seen.decisions(d.AskModel) if ask.told]
    assert sorted(told) == [(1, 1), (2, 1)]
    notes = [(ask.turn, ask.before[0].text) for ask in seen.decisions(d.AskModel) if ask.told]
    assert all(f"call_{turn}_" in text for turn, text in notes)


def in_one_note(seen: Talked) -> None:
    (told,) = [ask for ask in seen.decisions(d.AskModel) if ask.told]
    assert len(told.told) == 2


def one_after_the_other(seen: Talked) -> None:
    assert at_work(seen, "tool:alone") == 1


def two_at_a_time(seen: Talked) -> None:
    assert at_work(seen, "tool:look") == 2
    results = [call.result for call in seen.turns[0].moves[0].tool_calls]
    assert results == [{"v": 1}] * 5


def in_a_run_of_its_own(seen: Talked) -> None:
    assert list(seen.below.values()) == ["completed"]


def the_run_failed(seen: Talked) -> None:
    assert list(seen.below.values()) == ["failed"]
    assert seen.code() == "EXECUTION_FAILED"


def the_run_was_cancelled(seen: Talked) -> None:
    assert list(seen.below.values()) == ["cancelled"]
    assert seen.code() == "TIMEOUT"


def in_a_conversation_of_its_own(seen: Talked) -> None:
    assert len(seen.turns) == 1
    assert list(seen.below.values()) == ["completed"]
    result = seen.call().result
    assert isinstance(result, dict)
    assert result["text"] == "I see only this."


def eve_declined(seen: Talked) -> None:
    assert seen.code() == "EXECUTION_FAILED"


def she_took_a_turn_here(seen: Talked) -> None:
    assert [turn.agent for turn in seen.turns] == ["bob", "eve", "eve"]
    assert [joined.agent for joined in seen.decisions(d.JoinConversation)] == ["eve"]
    assert not seen.below


def too_deep(seen: Talked) -> None:
    assert seen.turns[0].replies == ["So it is."]


CASES = [
    TalkCase(
        "A03 an async tool: reply first, the turn stays active, a later message on the same turn, then completed",
        agent(
            calls("later", text="I am on it."),
            says("It is late.", "tool_results[1].result.v == 'late'"),
            tools=LATER,
            tasks=SLOW,
        ),
        ("go",),
        (Ended(["I am on it.", "It is late."]),),
        the_reply_came_first,
    ),
    TalkCase(
        "an async call without a text: the model is asked for a reply",
        agent(
            calls("later"),
            says("I am on it.", "tool_results[0].result.status == 'started'"),
            says("It is late."),
            tools=LATER,
            tasks=SLOW,
        ),
        ("go",),
        (Ended(["I am on it.", "It is late."]),),
        it_was_asked_for_a_reply,
    ),
    TalkCase(
        "two turns that linger never mix",
        agent(
            calls("later", text="First."),
            calls("later", text="Second.", when="message == 'more'"),
            says("One is late.", "message == 'go'"),
            says("Two is late.", "message == 'more'"),
            tools=LATER,
            tasks=SLOW,
        ),
        ("go",),
        (Ended(["First.", "One is late."]), Ended(["Second.", "Two is late."])),
        told_once_each_on_its_own_turn,
        (On("linger_turn", sends("more")),),
    ),
    TalkCase(
        "results of async calls that have all come are given in one note",
        agent(
            calls("later", "later", "look"),
            says("Both are late.", "size(tool_results) == 5"),
            tools={**LATER, "look": {"task": "slower"}},
            tasks={"slow": mocked({"v": "late"}, 20), "slower": mocked({}, 250)},
        ),
        ("go",),
        (Ended(["Both are late."]),),
        in_one_note,
    ),
    TalkCase(
        "an async call that fails is told like any other",
        agent(
            calls("later", text="I am on it."),
            says("It broke.", "tool_results[1].error.code == 'EXECUTION_FAILED'"),
            tools={"later": {"task": "boom", "async": True}},
            tasks={"boom": mocked(fail="no luck")},
        ),
        ("go",),
        (Ended(["I am on it.", "It broke."], issues={"tool_failures": 1}),),
    ),
    TalkCase(
        "exclusive calls run alone",
        agent(
            calls("alone", "alone", "alone"),
            says("Done."),
            tools={"alone": {"task": "short", "exclusive": True}},
            tasks={"short": mocked({}, 15)},
        ),
        ("go",),
        (Ended(["Done."]),),
        one_after_the_other,
    ),
    TalkCase(
        "max_parallel_tools is the most at a time, and results are in the order of the calls",
        agent(
            calls(*["look"] * 5),
            says("Done."),
            tools={"look": {"task": "short"}},
            tasks={"short": mocked({"v": 1}, 15)},
            persona={"max_parallel_tools": 2},
        ),
        ("go",),
        (Ended(["Done."]),),
        two_at_a_time,
    ),
    TalkCase(
        "A06 a workflow tool is a run, and its output the result",
        agent(
            {"tool_calls": [{"name": "side", "input": {"n": 3}}]},
            says("Three.", "tool_results[0].result.got == 3"),
            tools={"side": {"workflow": "side"}},
            workflows=SIDE,
        ),
        ("go",),
        (Ended(["Three."]),),
        in_a_run_of_its_own,
    ),
    TalkCase(
        "A06 a workflow tool that fails is told to the model",
        agent(
            calls("side"),
            says("It broke.", "tool_results[0].error.code == 'EXECUTION_FAILED'"),
            tools={"side": {"workflow": "side"}},
            workflows=BREAKS,
            tasks={"boom": mocked(fail="no luck")},
        ),
        ("go",),
        (Ended(["It broke."], issues={"tool_failures": 1}),),
        the_run_failed,
    ),
    TalkCase(
        "a workflow tool that takes too long is cancelled",
        agent(
            calls("side"),
            says("Too slow.", "tool_results[0].error.code == 'TIMEOUT'"),
            tools={"side": {"workflow": "side", "timeout_ms": 40}},
            workflows={"side": {"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 60}}}, "transitions": []}},
        ),
        ("go",),
        (Ended(["Too slow."], issues={"tool_failures": 1}),),
        the_run_was_cancelled,
    ),
    TalkCase(
        "A06 an agent tool asks another agent, who sees only what was passed",
        with_eve(
            says("I see only this.", "!context.messages.exists(m, m.text == 'hi') && message == 'what is it?'"),
            eve={},
            bob=(ASKS_EVE, says("She sees.", "tool_results[0].result.text == 'I see only this.'")),
        ),
        ("hi",),
        (Ended(["She sees."]),),
        in_a_conversation_of_its_own,
    ),
    TalkCase(
        "an agent whose turn fails is an error for the model",
        with_eve(
            {"error": "no such model"},
            eve={},
            bob=(ASKS_EVE, says("She is ill.", "tool_results[0].error.code == 'EXECUTION_FAILED'")),
        ),
        ("hi",),
        (Ended(["She is ill."], issues={"tool_failures": 1}),),
        eve_declined,
    ),
    TalkCase(
        "an agent that is looped in sees the history, answers here, and stays",
        with_eve(
            says("I see all.", "context.messages.exists(m, m.text == 'hi') && message == 'what is it?'"),
            says("Still here.", "message == 'eve?'"),
            eve={"mode": "loop_in"},
            bob=(ASKS_EVE, says("She sees.", "tool_results[0].result.text == 'I see all.'")),
        ),
        ("hi",),
        (Ended(["She sees."]), Ended(["I see all."]), Ended(["Still here."])),
        she_took_a_turn_here,
        (On("end_turn", sends("eve?", to="eve"), nth=1),),
    ),
    TalkCase(
        "an agent that was looped in and lingers goes on, also if older turns leave the window for it",
        with_eve(
            calls("later", text="On it."),
            says("Quick."),
            says("Late."),
            eve={"mode": "loop_in"},
            bob=(
                says("Hello.", "message == 'hi'"),
                {"tool_calls": [*ASKS_EVE["tool_calls"], *ASKS_EVE["tool_calls"]]},
                says("Thanks."),
            ),
            wise={"tools": ["later"], "recent_turns": 1},
            others=LATER,
            tasks=SLOW,
        ),
        ("hi", "ask"),
        (Ended(["Hello."]), Ended(["Thanks."]), Ended(["On it.", "Late."]), Ended(["Quick."])),
        lambda seen: _shrunk(seen),
    ),
    TalkCase(
        "an agent that waits for an answer cannot be looped in for it",
        with_eve(
            {"tool_calls": [{"name": "ask_bob", "input": {"message": "you?"}}]},
            says("He waits.", "tool_results[0].error.code == 'AGENT_DECLINED'"),
            eve={"mode": "loop_in"},
            bob=(ASKS_EVE, says("I wait.")),
            wise={"tools": ["ask_bob"]},
            others={"ask_bob": {"agent": "bob", "mode": "loop_in"}},
        ),
        ("hi",),
        (Ended(["I wait."]), Ended(["He waits."], issues={"tool_failures": 1})),
    ),
    TalkCase(
        "agents that ask each other without end stop at max_depth",
        with_eve(
            {"tool_calls": [{"name": "ask_bob", "input": {"message": "you?"}}]},
            says("So it is."),
            eve={},
            bob=(ASKS_EVE, says("So it is.")),
            wise={"tools": ["ask_bob"]},
            others={"ask_bob": {"agent": "bob"}},
        ),
        ("hi",),
        (Ended(["So it is."]),),
        too_deep,
    ),
]


def the_second_run_did_it(seen: Talked) -> None:
    assert list(seen.below.values()) == ["failed", "completed"]
    assert len(seen.decisions(d.RetryToken)) == 1
    assert seen.call().result == {"got": 7}


def three_runs_failed(seen: Talked) -> None:
    assert list(seen.below.values()) == ["failed"] * 3
    assert seen.code() == "EXECUTION_FAILED"


def she_was_asked_twice(seen: Talked) -> None:
    assert len(seen.decisions(d.CallAgent)) == 2
    assert len(seen.decisions(d.AnswerCall)) == 1


AGAIN: Data = {"max_attempts": 3, "backoff": "none", "initial_delay_ms": 5}
COUNTS: Data = {
    "side": {
        "initial_node": "a",
        "nodes": {
            "a": {"task": "maybe", "input_mapping": {"id": "run.id"}, "output_mapping": {"output.got": "result.v"}}
        },
        "transitions": [],
    }
}
MAYBE: Data = {
    "steps": [
        {"ref": "c", "action": {"kind": "assert", "implementation": {"that": "input.id.endsWith('-2')"}}},
        {"ref": "s", "action": {"kind": "context", "implementation": {"set": {"v": "7"}}}},
    ]
}
RETRIED = [
    TalkCase(
        "a workflow tool with retry is run again, as another run",
        agent(
            calls("side"),
            says("Seven.", "tool_results[0].result.got == 7"),
            tools={"side": {"workflow": "side", "retry": AGAIN}},
            workflows=COUNTS,
            tasks={"maybe": MAYBE},
        ),
        ("go",),
        (Ended(["Seven."]),),
        the_second_run_did_it,
    ),
    TalkCase(
        "a workflow tool with retry that never succeeds is an error when its attempts are spent",
        agent(
            calls("side"),
            says("It broke.", "tool_results[0].error.code == 'EXECUTION_FAILED'"),
            tools={"side": {"workflow": "side", "retry": AGAIN}},
            workflows=BREAKS,
            tasks={"boom": mocked(fail="no luck")},
        ),
        ("go",),
        (Ended(["It broke."], issues={"tool_failures": 1}),),
        three_runs_failed,
    ),
    TalkCase(
        "a workflow tool with retry that takes too long is not run again",
        agent(
            calls("side"),
            says("Too slow.", "tool_results[0].error.code == 'TIMEOUT'"),
            tools={"side": {"workflow": "side", "timeout_ms": 40, "retry": AGAIN}},
            workflows={"side": {"initial_node": "a", "nodes": {"a": {"wait": {"seconds": 60}}}, "transitions": []}},
        ),
        ("go",),
        (Ended(["Too slow."], issues={"tool_failures": 1}),),
        the_run_was_cancelled,
    ),
    TalkCase(
        "an agent tool with retry asks again, in another conversation",
        with_eve(
            {"error": "no such model"},
            eve={"retry": {**AGAIN, "max_attempts": 2}},
            bob=(ASKS_EVE, says("She is ill.", "tool_results[0].error.code == 'EXECUTION_FAILED'")),
        ),
        ("hi",),
        (Ended(["She is ill."], issues={"tool_failures": 1}),),
        she_was_asked_twice,
    ),
    TalkCase(
        "an agent that is looped in with retry takes another turn",
        with_eve(
            {"error": "not yet"},
            says("Now I can."),
            eve={"mode": "loop_in", "retry": AGAIN},
            bob=(ASKS_EVE, says("She could.", "tool_results[0].result.text == 'Now I can.'")),
        ),
        ("hi",),
        (Ended(["She could."]), Ended([], "failed", "model_error"), Ended(["Now I can."])),
        she_was_asked_twice,
    ),
]


def _shrunk(seen: Talked) -> None:
    assert [shrink.upto for shrink in seen.decisions(d.ShrinkWindow)] == [1]


ROWS = [pytest.param(case, id=case.id) for case in (*CASES, *RETRIED)]
