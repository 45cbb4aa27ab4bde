"""Nodes that ask an agent."""

import msgspec
import pytest
import yaml

from jeton.actor.advance import LiveRun, advance
from jeton.definitions import library_from
from jeton.definitions.bundle import bundle_of
from jeton.model import decision as d
from jeton.model.effect import SendMessage
from jeton.model.failure import RunError
from jeton.model.ids import RunId, TokenId, child_run_id
from jeton.model.json import Json
from jeton.model.message import AlarmRang, CancelRun, ChatSent, ChildEnded, StartRun, StopTurn, TurnOver
from jeton.model.state.phase import WaitingForAgent
from jeton.model.state.run import Head, Parent, RunState
from jeton.model.state.talk import Said, TurnError, TurnStatus
from jeton.planning.program.compile import compile_definition
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.node import NodeFinished
from jeton.planning.waits.agent import plan_agent, plan_conversation_ended, plan_turn_over
from tests.planning.given import RUN, TASKS, Given, at, given, started, token_at

NOW = 5
ZERO = TokenId(0)
CONVERSATION = child_run_id(RUN, ZERO)
AGENTS = """
model_profiles: {fake: {provider: scripted, script: [{text: Hello.}]}}
personas: {helper: {model_profile: fake}}
agents: {bob: {persona: helper}}
"""


def asking(node: str, **more: Json) -> Program:
    """A workflow that asks an agent at its node `a`, then works at `b`."""
    keys = {
        "initial_node": "a",
        "nodes": {"a": yaml.safe_load(f"{{{node}}}"), "b": {"task": "work"}},
        "transitions": [{"from": "a", "to": "b"}],
        **more,
    }
    library = library_from({**yaml.safe_load(AGENTS), "tasks": TASKS, "workflows": {"w": keys}}).require()
    return compile_definition(bundle_of(library, "w"), "w")


PLAIN = asking("agent: bob, input_mapping: {message: input.mail, order: input.order}")
GOING_ON = asking("agent: {name: bob, conversation: input.talk}, input_mapping: {message: input.mail}")
TIMED = asking("agent: {name: bob, timeout_ms: 30}")
NESTED = asking("agent: bob", limits={"max_depth": 1})


def over(
    status: TurnStatus = "completed", text: str = "Hello.", error: TurnError | None = None, data: Json = None
) -> TurnOver:
    return TurnOver(NOW, ZERO, CONVERSATION, 1, status, text, data, error)


def asked(run: Given) -> d.CallAgent:
    (call,) = [each for made in run.journal() for each in made if isinstance(each, d.CallAgent)]
    return call


def test_the_mapped_input_goes_in_as_message_and_other_fields_as_data() -> None:
    call = asked(given(PLAIN, started({"mail": "Where is it?", "order": 7})))
    assert (call.agent, call.conversation, call.new) == ("bob", CONVERSATION, True)
    assert call.said == Said("Where is it?", 0, data={"order": 7})


@pytest.mark.parametrize(
    ("talk", "conversation", "new"),
    [
        pytest.param("c7", RunId("c7"), False, id="the one that its expression names"),
        pytest.param(None, CONVERSATION, True, id="a new one, if it names none"),
    ],
)
def test_the_conversation_that_a_node_goes_on_with(talk: Json, conversation: RunId, new: bool) -> None:
    call = asked(given(GOING_ON, started({"mail": "x", "talk": talk})))
    assert (call.conversation, call.new) == (conversation, new)


def test_a_conversation_must_be_the_id_of_one() -> None:
    state = at("a", GOING_ON, started({"mail": "x", "talk": 7})).state()
    *_, end = plan_agent(GOING_ON, state, token_at(state, "a"), msgspec.UNSET, (), NOW)
    assert isinstance(end, d.EndRun)
    assert end.error is not None
    assert end.error.type == "input_invalid"


def test_the_start_and_the_message_leave_in_one_commit_and_the_token_waits() -> None:
    state = given(PLAIN, started({"mail": "x", "order": 7})).state()
    phase = token_at(state, "a").phase
    assert phase == WaitingForAgent(0, CONVERSATION, "bob")


def test_nesting_is_bounded() -> None:
    parent = Parent(RunId("p"), TokenId(3), RunId("p"), 1)
    error = given(NESTED, StartRun(0, {}, parent=parent)).state().head.error
    assert error is not None
    assert (error.type, error.message) == (
        "limit_exceeded",
        "max_depth: agent 'bob' would be asked 2 levels below the root",
    )


@pytest.mark.parametrize(
    ("message", "result"),
    [
        pytest.param(over(), {"text": "Hello.", "conversation_id": CONVERSATION}, id="the text"),
        pytest.param(
            over(data={"n": 1}),
            {"text": "Hello.", "conversation_id": CONVERSATION, "data": {"n": 1}},
            id="and the data",
        ),
    ],
)
def test_the_result_of_a_node(message: TurnOver, result: Json) -> None:
    run = given(PLAIN, started({"mail": "x", "order": 7}))
    assert plan_turn_over(PLAIN, run.state(), message).then == NodeFinished(ZERO, result)


@pytest.mark.parametrize(
    ("message", "kind", "why"),
    [
        pytest.param(
            over("failed", error=TurnError("model_error", "down")), "model_error", "down", id="the error of the turn"
        ),
        pytest.param(over("exhausted"), "exhausted", "exhausted", id="its status, without an error"),
    ],
)
def test_a_failed_turn_is_a_failed_node(message: TurnOver, kind: str, why: str) -> None:
    run = given(PLAIN, started({"mail": "x", "order": 7}), message)
    error = run.state().head.error
    assert isinstance(error, RunError)
    assert error.type == kind
    assert error.message.endswith(why)


def test_an_answer_that_nobody_waits_for_is_ignored() -> None:
    run = given(PLAIN, started({"mail": "x", "order": 7}), over())
    (late,) = plan_turn_over(PLAIN, run.state(), over()).decisions
    assert isinstance(late, d.IgnoreLate)


def test_a_conversation_that_could_not_begin_fails_the_node() -> None:
    ended = ChildEnded(NOW, ZERO, CONVERSATION, "failed", error=RunError("unknown_agent", "no such agent"))
    error = given(PLAIN, started({"mail": "x", "order": 7}), ended).state().head.error
    assert error is not None
    assert (error.type, error.message) == ("unknown_agent", "agent 'bob' did not answer: no such agent")
    state = given(PLAIN, started({"mail": "x", "order": 7})).state()
    other = ChildEnded(NOW, ZERO, RunId("x"), "failed")
    (late,) = plan_conversation_ended(PLAIN, state, token_at(state, "a"), other).decisions
    assert isinstance(late, d.IgnoreLate)


def test_the_cancel_of_the_run_reaches_the_turn() -> None:
    run = given(PLAIN, started({"mail": "x", "order": 7}), CancelRun(NOW, "enough"))
    (stop,) = [each for made in run.journal() for each in made if isinstance(each, d.StopAgent)]
    assert (stop.token, stop.conversation) == (ZERO, CONVERSATION)


def test_the_timeout_of_the_node_stops_the_turn() -> None:
    run = given(TIMED, started({"mail": "x"}), AlarmRang(30))
    made = run.journal()[-1]
    assert any(isinstance(each, d.StopAgent) for each in made)
    error = run.state().head.error
    assert error is not None
    assert error.type == "timed_out"
    assert error.message == "the agent had not answered 30 ms after it was asked"


def test_the_messages_to_the_conversation() -> None:
    run = LiveRun(RunState(Head(RUN, "w")))
    effects = advance(PLAIN, run, [started({"mail": "x", "order": 7})]).effects
    start, sent = (each.message for each in effects if isinstance(each, SendMessage))
    assert isinstance(start, StartRun)
    assert isinstance(sent, ChatSent)
    assert (start.workflow, start.parent and start.parent.token) == ("agent:bob", ZERO)
    assert (sent.caller.run, sent.caller.token, sent.caller.depth, sent.data) == (RUN, ZERO, 1, {"order": 7})
    stop = advance(PLAIN, run, [CancelRun(NOW)]).effects
    assert [type(each.message) for each in stop if isinstance(each, SendMessage)] == [StopTurn]
