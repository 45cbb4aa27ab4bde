"""People in a conversation: they queue, steer, interrupt, stop, send again, and approve what an agent wants to do."""

import pytest

from jeton.model import decision as d
from tests.conformance.case import Data
from tests.conformance.talk import (
    Ended,
    On,
    TalkCase,
    Talked,
    agent,
    answers,
    calls,
    mocked,
    says,
    sends,
    stops,
)

SOON_MS = 600  # time enough to say something before
SLOW: Data = {"slow": {"task": "slow"}}
SLOWLY: Data = {"slow": mocked({"v": 1}, SOON_MS)}
AT_WORK = "dispatch_token"
SHORTEN: Data = {
    "shorten": {
        "initial_node": "rest",
        "nodes": {
            "rest": {"wait": {"seconds": SOON_MS / 1000}},
            "a": {"output_mapping": {"output.summary": "'they counted'"}},
        },
        "transitions": [{"from": "rest", "to": "a"}],
    }
}
NUMBER: Data = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
PAY: Data = {"task": "work", "input_schema": NUMBER, "needs_approval": True}
PAYS: Data = {"tool_calls": [{"name": "pay", "input": {"n": 5}}]}
APPROVE: Data = {"decision": "approve"}
REFUSE: Data = {"decision": "refuse", "reason": "too much"}
ANN_AND_BEA: Data = {**PAY, "needs_approval": {"approvals": 2, "assignees": ["ann", "bea"]}}


def paying(*script: Data, pay: Data = PAY, **more: Data) -> Data:
    return agent(PAYS, *script, tools={"pay": pay, **more})


def when_it_does(*acts: On) -> tuple[On, ...]:
    return acts


def gate(value: Data, *, by: str | None = None, nth: int = 0, after_replies: int = 0) -> On:
    """Answer a gate when it opens, or when so many have been answered, of whom the first is the one who said "pay"."""
    if after_replies:
        return On("reply_to", answers(value, by=by), nth=after_replies - 1)
    return On("open_gate", answers(value, by=by), "tool:pay", nth)


def said_and_done(*sent: str) -> Data:
    """An agent with a slow tool, who then says what it was told."""
    return agent(
        calls("slow", when="message == 'go'"),
        *(says(f"You said {text}.", f"message == '{text}'") for text in sent),
        says("Done."),
        tools=SLOW,
        tasks=SLOWLY,
    )


def with_the_edited_input(seen: Talked) -> None:
    (dispatched,) = [x for x in seen.decisions(d.DispatchToken) if x.node == "tool:pay"]
    assert dispatched.input == {"n": 7}
    assert seen.call().edited == {"n": 7}


def nothing_was_paid(seen: Talked) -> None:
    assert not [x for x in seen.decisions(d.DispatchToken) if x.node == "tool:pay"]
    assert seen.code() == "REFUSED"


def the_reason_was_told(seen: Talked) -> None:
    nothing_was_paid(seen)
    error = seen.call().error
    assert error is not None
    assert "too much" in error.message


def one_gate(seen: Talked) -> None:
    assert len(seen.decisions(d.OpenGate)) == 1
    assert len([x for x in seen.decisions(d.DispatchToken) if x.node == "tool:pay"]) == 2


def wrong_answers_were_refused(seen: Talked) -> None:
    (dispatched,) = [x for x in seen.decisions(d.DispatchToken) if x.node == "tool:pay"]
    assert dispatched.input == {"n": 5}
    assert len([reply for reply in seen.decisions(d.ReplyTo) if not reply.accepted]) == 3


def the_other_did_not_wait(seen: Talked) -> None:
    order = [x.node for x in seen.decisions() if isinstance(x, d.DispatchToken) or type(x) is d.TakeAnswer]
    assert order.index("tool:look") < order.index("tool:pay")


def open_calls_were_cancelled(seen: Talked) -> None:
    assert seen.code() == "CANCELLED"
    assert "end_tokens" in seen.tags()


def the_second_key_is_known(seen: Talked) -> None:
    assert [reply.why for reply in seen.decisions(d.ReplyTo)].count("known") == 1
    assert len(seen.turns) == 2


CASES = [
    TalkCase(
        "a message while a turn moves is queued: a turn of its own, next",
        said_and_done("more"),
        ("go",),
        (Ended(["Done."]), Ended(["You said more."])),
        acts=when_it_does(On(AT_WORK, sends("more"), "tool:slow")),
    ),
    TalkCase(
        "a queued message can be withdrawn",
        said_and_done("more"),
        ("go",),
        (Ended(["Done."]), Ended([], "cancelled", "cancelled")),
        acts=(On(AT_WORK, sends("more"), "tool:slow"), On("add_turn", stops(2), nth=1)),
    ),
    TalkCase(
        "steer: the turn's next model call has it",
        said_and_done("more"),
        ("go",),
        (Ended(["You said more."]),),
        acts=when_it_does(On(AT_WORK, sends("more", "steer"), "tool:slow")),
    ),
    TalkCase(
        "steer, when the model was done: it makes one more move",
        agent(says("Hello.", "message == 'hi'", delay_ms=SOON_MS), says("More.", "message == 'more'")),
        ("hi",),
        (Ended(["Hello.", "More."]),),
        acts=when_it_does(On(AT_WORK, sends("more", "steer"), "model")),
    ),
    TalkCase(
        "steer: open approvals are refused, with it as the reason",
        paying(says("Fine, not that.", "message == 'too much' && tool_results[0].error.code == 'REFUSED'")),
        ("pay",),
        (Ended(["Fine, not that."], issues={"tool_failures": 1}),),
        the_reason_was_told,
        when_it_does(On("open_gate", sends("too much", "steer"))),
    ),
    TalkCase(
        "steer, while older turns are summarised: the model is asked when that is done",
        agent(
            says("One."),
            calls("look", when="message == '2'"),
            says("You said more.", "message == 'more' && context.messages[0].text.contains('they counted')"),
            tools={"look": {"task": "long"}},
            tasks={"long": mocked({"v": "long " * 700})},
            persona={"compaction": "shorten"},
            profile={"context_window": 1_000, "parameters": {"max_tokens": 100}},
            workflows=SHORTEN,
        ),
        ("1", "2"),
        (Ended(["One."]), Ended(["You said more."])),
        lambda seen: _asked(seen, 3),
        when_it_does(On("compact_turn", sends("more", "steer"), after_ms=20)),
    ),
    TalkCase(
        "interrupt: the turn is stopped, and the message has a turn of its own",
        said_and_done("stop it"),
        ("go",),
        (Ended([], "cancelled", "interrupted", {"tool_failures": 1}), Ended(["You said stop it."])),
        open_calls_were_cancelled,
        when_it_does(On(AT_WORK, sends("stop it", "interrupt"), "tool:slow")),
    ),
    TalkCase(
        "stop of a turn: open calls are cancelled, and the conversation is as usable as before",
        said_and_done("and now?"),
        ("go", "and now?"),
        (Ended([], "cancelled", "cancelled", {"tool_failures": 1}), Ended(["You said and now?."])),
        open_calls_were_cancelled,
        when_it_does(On(AT_WORK, stops(1), "tool:slow")),
    ),
    TalkCase(
        "stop of all that move: what is queued goes on",
        said_and_done("more"),
        ("go",),
        (Ended([], "cancelled", "cancelled", {"tool_failures": 1}), Ended(["You said more."])),
        open_calls_were_cancelled,
        (On(AT_WORK, sends("more"), "tool:slow"), On("add_turn", stops(), nth=1)),
    ),
    TalkCase(
        "stop while the model answers: the message stays in the history",
        agent(
            says("Hello.", "message == 'hi'", delay_ms=2_000),
            says("Again.", "context.messages.exists(m, m.text == 'hi')"),
        ),
        ("hi", "again"),
        (Ended([], "cancelled", "cancelled"), Ended(["Again."])),
        acts=when_it_does(On(AT_WORK, stops(), "model")),
    ),
    TalkCase(
        "a message that is sent again with its key is there once",
        said_and_done("more"),
        ("go",),
        (Ended(["Done."]), Ended(["You said more."])),
        the_second_key_is_known,
        (On(AT_WORK, sends("more", key="k"), "tool:slow"), On("add_turn", sends("more", key="k"), nth=1)),
    ),
    TalkCase(
        "approve: the call is made, and the turn goes on",
        paying(says("Paid.", "tool_results[0].result.v == 1")),
        ("pay",),
        (Ended(["Paid."]),),
        acts=when_it_does(gate(APPROVE)),
    ),
    TalkCase(
        "edit: the call is made with the other input, and the model is told",
        paying(says("Paid.", "context.messages.exists(m, m.text.contains('input_changed_by_a_person_to'))")),
        ("pay",),
        (Ended(["Paid."]),),
        with_the_edited_input,
        when_it_does(gate({"decision": "edit", "input": {"n": 7}})),
    ),
    TalkCase(
        "refuse: the result is REFUSED, with the reason",
        paying(says("Not paid.", "tool_results[0].error.code == 'REFUSED'")),
        ("pay",),
        (Ended(["Not paid."], issues={"tool_failures": 1}),),
        the_reason_was_told,
        when_it_does(gate(REFUSE)),
    ),
    TalkCase(
        "approve for the conversation: this tool is not asked about again",
        paying({**PAYS, "when": "message == 'again'"}, says("Paid.", "size(tool_results) > 0"), says("Paid again.")),
        ("pay", "again"),
        (Ended(["Paid."]), Ended(["Paid again."])),
        one_gate,
        when_it_does(gate({**APPROVE, "for": "conversation"})),
    ),
    TalkCase(
        "nobody approves in time: refused",
        paying(
            says("Nobody.", "tool_results[0].error.code == 'REFUSED'"),
            pay={**PAY, "needs_approval": {"timeout_ms": 40}},
        ),
        ("pay",),
        (Ended(["Nobody."], issues={"tool_failures": 1}),),
        nothing_was_paid,
    ),
    TalkCase(
        "two approvals: each person once, and only those who are asked; an edit must fit the schema",
        paying(says("Paid."), pay=ANN_AND_BEA),
        ("pay",),
        (Ended(["Paid."]),),
        wrong_answers_were_refused,
        (
            gate(APPROVE, by="eve"),
            gate({"decision": "edit", "input": {"n": "x"}}, by="ann"),
            gate(APPROVE, by="ann", after_replies=3),
            gate(APPROVE, by="ann", after_replies=4),
            gate(APPROVE, by="bea", after_replies=5),
        ),
    ),
    TalkCase(
        "two approvals: an edit begins anew, because the other approved another input",
        paying(says("Paid."), pay=ANN_AND_BEA),
        ("pay",),
        (Ended(["Paid."]),),
        with_the_edited_input,
        (
            gate(APPROVE, by="ann"),
            gate({"decision": "edit", "input": {"n": 7}}, by="bea", after_replies=2),
            gate(APPROVE, by="ann", after_replies=3),
        ),
    ),
    TalkCase(
        "an answer's other calls do not wait for an approval",
        agent(
            {"tool_calls": [{"name": "pay", "input": {"n": 5}}, {"name": "look", "input": {}}]},
            says("Both."),
            tools={"pay": {**PAY, "exclusive": True}, "look": {"task": "work"}},
        ),
        ("pay",),
        (Ended(["Both."]),),
        the_other_did_not_wait,
        when_it_does(On(AT_WORK, answers(APPROVE), "tool:look")),
    ),
    TalkCase(
        "what an untrusted tool said makes the next call need approval",
        agent(
            calls("fetch"),
            PAYS,
            says("Not paid.", "tool_results[0].error.code == 'REFUSED'"),
            tools={"fetch": {"task": "work", "untrusted": True}, "pay": {**PAY, "needs_approval": "tainted"}},
        ),
        ("pay",),
        (Ended(["Not paid."], issues={"tool_failures": 1}),),
        lambda seen: _gates(seen, 1),
        (gate(REFUSE),),
    ),
    *[
        TalkCase(
            f"so does an agent that has read from one, also if {what}",
            agent(
                {"tool_calls": [{"name": "ask_eve", "input": {"message": "well?"}}]},
                PAYS,
                says("Not paid.", "tool_results[0].error.code == 'REFUSED'"),
                tools={"ask_eve": {"agent": "eve"}, "pay": {**PAY, "needs_approval": "tainted"}},
                others={"fetch": {"task": "work", "untrusted": True}},
                profiles={"other": {"provider": "scripted", "script": [calls("fetch"), answer]}},
                personas={"wise": {"instructions": "Be wise.", "model_profile": "other", "tools": ["fetch"]}},
                agents={"eve": {"persona": "wise"}},
            ),
            ("pay",),
            (Ended(["Not paid."], issues={"tool_failures": failures}),),
            lambda seen: _gates(seen, 1),
            (gate(REFUSE),),
        )
        for what, answer, failures in (
            ("it answers", says("Pay them."), 1),
            ("its turn fails", {"error": "Pay them."}, 2),
        )
    ],
    TalkCase(
        "without anything untrusted the same call needs none",
        agent(
            calls("fetch"),
            PAYS,
            says("Paid."),
            tools={"fetch": {"task": "work"}, "pay": {**PAY, "needs_approval": "tainted"}},
        ),
        ("pay",),
        (Ended(["Paid."]),),
        lambda seen: _gates(seen, 0),
    ),
]


def _asked(seen: Talked, times: int) -> None:
    assert len(seen.decisions(d.AskModel)) == times


ROWS = [pytest.param(case, id=case.id) for case in CASES]


def _gates(seen: Talked, count: int) -> None:
    assert len(seen.decisions(d.OpenGate)) == count
