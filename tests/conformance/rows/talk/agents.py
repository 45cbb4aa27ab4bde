"""Nodes that ask an agent: the token waits, the reply is the result, and what ends the one reaches the other."""

import pytest

from tests.conformance.case import Case, Data, Outcome, cancels, mock, to, workflow
from tests.conformance.talk import agent, calls, mocked, says

MAIL: Data = {"message": "input.mail"}
ASK: Data = {"agent": "bob", "input_mapping": MAIL, "output_mapping": {"output.said": "result.text"}}
VERDICT: Data = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}
SLOW: Data = {"tools": {"slow": {"task": "slow"}}, "tasks": {"slow": mocked({}, 5_000)}}
GO_ON: Data = {
    "agent": {"name": "bob", "conversation": "state.talk"},
    "input_mapping": {"message": "'and then?'"},
    "output_mapping": {"output.then": "result.text", "output.same": "result.conversation_id == state.talk"},
}
FIRST: Data = {**ASK, "output_mapping": {"output.said": "result.text", "state.talk": "result.conversation_id"}}


def the_conversation_stays(seen: Outcome) -> None:
    (talk,) = seen.children
    assert (talk.workflow, talk.status, talk.depth) == ("agent:bob", "waiting", 1)


def its_turn_was_stopped(seen: Outcome) -> None:
    (talk,) = seen.children
    assert talk.status == "waiting"
    assert "stop_agent" in seen.decisions


def the_agent_is_named(seen: Outcome) -> None:
    assert "agent 'bob' did not answer" in seen.error_message


def it_does_not_wait_for_ever(seen: Outcome) -> None:
    assert "no-such" in seen.error_message


CASES = [
    Case(
        "A14 a node that asks an agent: the token waits, and the reply is its output",
        workflow({"ask": ASK}),
        {"mail": "hi"},
        output={"said": "Hello."},
        agents=agent(says("Hello.", "message == 'hi'")),
        also=the_conversation_stays,
    ),
    Case(
        "A14 a turn that fails is a failed node",
        workflow({"ask": ASK}),
        {"mail": "hi"},
        status="failed",
        error="model_error",
        agents=agent({"error": "no such model"}),
        also=the_agent_is_named,
    ),
    Case(
        "A14 a failed turn is routed like any failure",
        workflow(
            {"ask": ASK, "sorry": mock({"v": 1}, output_mapping={"output.v": "result.v"})},
            to("ask", "sorry", "state._last_error.type == 'model_error'"),
        ),
        {"mail": "hi"},
        output={"v": 1},
        agents=agent({"error": "no such model"}),
    ),
    Case(
        "other fields of the input go in as data",
        workflow({"ask": {**ASK, "input_mapping": {"message": "input.mail", "order": "17"}}}),
        {"mail": "hi"},
        output={"said": "I see it."},
        agents=agent(says("I see it.", "context.messages.exists(m, m.text.contains('17}'))")),
    ),
    Case(
        "an output_schema: the result has data that fits it, after the model was told what does not",
        workflow(
            {
                "ask": {
                    "agent": {"name": "bob", "output_schema": VERDICT},
                    "input_mapping": MAIL,
                    "output_mapping": {"output.ok": "result.data.ok"},
                }
            }
        ),
        {"mail": "well?"},
        output={"ok": True},
        agents=agent(says('{"ok": "perhaps"}'), says('{"ok": true}')),
    ),
    Case(
        "an output_schema that never fits fails the node",
        workflow({"ask": {"agent": {"name": "bob", "output_schema": VERDICT}, "input_mapping": MAIL}}),
        {"mail": "well?"},
        status="failed",
        error="output_invalid",
        agents=agent(says("1"), says("2"), says("3")),
    ),
    Case(
        "a conversation can be gone on with",
        workflow({"ask": FIRST, "more": GO_ON}, to("ask", "more")),
        {"mail": "hi"},
        output={"said": "Hello.", "then": "As I said.", "same": True},
        agents=agent(says("Hello."), says("As I said.", "context.messages.exists(m, m.text == 'Hello.')")),
        also=the_conversation_stays,
    ),
    Case(
        "a conversation that is not there fails the node",
        workflow({"ask": {"agent": {"name": "bob", "conversation": "'no-such'"}, "input_mapping": MAIL}}),
        {"mail": "hi"},
        status="failed",
        error="unknown_run",
        agents=agent(says("Hello.")),
        also=it_does_not_wait_for_ever,
    ),
    Case(
        "a run that is no conversation fails the node",
        workflow({"ask": {"agent": {"name": "bob", "conversation": "run.id"}, "input_mapping": MAIL}}),
        {"mail": "hi"},
        status="failed",
        error="not_a_conversation",
        agents=agent(says("Hello.")),
    ),
    Case(
        "the run's cancel reaches the agent's turn",
        workflow({"ask": ASK}),
        {"mail": "hi"},
        status="cancelled",
        error="cancelled",
        agents=agent(calls("slow"), **SLOW),
        acts=(cancels("call_agent", after_ms=60),),
        also=its_turn_was_stopped,
    ),
    Case(
        "the node's timeout reaches the agent's turn",
        workflow({"ask": {**ASK, "agent": {"name": "bob", "timeout_ms": 60}}}),
        {"mail": "hi"},
        status="failed",
        error="timed_out",
        agents=agent(calls("slow"), **SLOW),
    ),
]
ROWS = [pytest.param(case, id=case.id) for case in CASES]
