"""Tool calls: which may start, what each asks for, and what its result means."""

import pytest

from jeton.model import decision as d
from jeton.model.chat import CalledTool, ToolError
from jeton.model.effect import SendMessage
from jeton.model.failure import RunError, TaskFailed
from jeton.model.json import Json
from jeton.model.message import ChatSent, StartRun
from jeton.model.state.talk import Caller, Said, TurnError
from jeton.planning.turns.tools import caller_view, failed_call, is_once, plan_calls, said_from
from tests.planning.talking import (
    BOB,
    NOW,
    Step,
    agent,
    at_node,
    at_work,
    call,
    chat,
    child_ends,
    fails,
    lost,
    nodes,
    results,
    returns,
    rings,
    says,
    talk,
    turn_over,
)

ASKED = talk(BOB, chat())


# calls that cannot be made


@pytest.mark.parametrize(
    ("called", "code", "message"),
    [
        pytest.param(call("lok"), "NOT_FOUND", "there is no tool 'lok'; did you mean 'look'?", id="no such tool"),
        pytest.param(
            CalledTool("look", raw="{q:"), "INVALID_INPUT", "the arguments are not a JSON object", id="no JSON"
        ),
        pytest.param(call("look", q=1), "INVALID_INPUT", 'input.q: 1 is not of type "string"', id="a misfit"),
    ],
)
def test_an_error_result_for_the_model(called: CalledTool, code: str, message: str) -> None:
    told = ASKED.then(says("", called))
    (answered,) = told.made(d.AnswerCall)
    error = answered.result.result.error
    assert error is not None
    assert (error.code, error.retriable) == (code, True)
    assert message in error.message
    assert told.state().talk.turns[1].issues == {"tool_failures": 1}


def test_every_misfit_is_named() -> None:
    (answered,) = ASKED.then(says("", call("look", q=1, x=2))).made(d.AnswerCall)
    error = answered.result.result.error
    assert error is not None
    assert "input.q" in error.message
    assert "'x'" in error.message or '"x"' in error.message


# which may start


def test_all_calls_of_an_answer_run_at_the_same_time() -> None:
    told = ASKED.then(says("", call("look"), call("web"), call("count")))
    assert nodes(told.state()) == ["tool:look", "tool:web", "tool:count"]


def test_an_exclusive_call_runs_alone() -> None:
    told = ASKED.then(says("", call("look"), call("alone"), call("look")))
    assert at_work(told.state()) == ["tool:look"]
    told = told.then(returns("tool:look", 1))
    assert at_work(told.state()) == ["tool:alone"]
    told = told.then(returns("tool:alone", 2))
    assert at_work(told.state()) == ["tool:look"]


def test_calls_beyond_the_limit_wait() -> None:
    told = talk(agent("max_parallel_tools: 2"), chat(), says("", call("look"), call("look"), call("look")))
    assert len(at_work(told.state())) == 2
    assert len(at_work(told.then(returns("tool:look", 1)).state())) == 2


def test_the_model_is_asked_again_only_when_all_have_answered_in_call_order() -> None:
    told = ASKED.then(says("", call("look", q="1"), call("web")), returns("tool:web", "w"))
    assert nodes(told.state()) == ["tool:look"]
    told = told.then(returns("tool:look", "l"))
    assert nodes(told.state()) == ["model"]
    assert results(told.state()) == [("look", "l"), ("web", "w")]


def test_planning_again_starts_nothing_twice() -> None:
    state = ASKED.then(says("", call("look"))).state()
    assert plan_calls(BOB, state, state.talk.turns[1], NOW) == []


# what a call asks for


def test_a_task_gets_the_input() -> None:
    (dispatch,) = ASKED.then(says("", call("look", q="x"))).made(d.DispatchToken)
    assert (dispatch.input, dispatch.deadline) == ({"q": "x"}, NOW + 1000)


def test_a_run_is_started_with_the_tools_timeout() -> None:
    told = ASKED.then(says("", call("count")))
    (run,) = told.made(d.CallWorkflow)
    assert (run.workflow, run.deadline) == ("child", NOW + 50)
    late = told.then(rings(NOW + 50))
    assert results(late.state()) == [("count", "TIMEOUT")]
    assert isinstance(late.last()[0], d.StopChild)


def test_an_agent_is_asked_in_a_clean_conversation() -> None:
    told = ASKED.then(says("", call("ask_amy", message="How?")))
    (asked,) = told.made(d.CallAgent)
    assert (asked.agent, asked.new, asked.said) == ("amy", True, Said("How?", NOW, "bob"))
    start, sent = (each.message for each in told.commit().effects if isinstance(each, SendMessage))
    assert isinstance(start, StartRun)
    assert start.workflow == "agent:amy"
    assert isinstance(sent, ChatSent)
    assert (sent.text, sent.caller.agent, sent.caller.turn, sent.caller.user) == ("How?", "bob", 1, "ann")


def test_an_input_mapping_makes_the_input() -> None:
    mapped = agent(tools={"look": "{task: work, input_mapping: {who: caller.user, what: input.q}}"})
    (dispatch,) = talk(mapped, chat(), says("", call("look", q="x"))).made(d.DispatchToken)
    assert dispatch.input == {"who": "ann", "what": "x"}


def test_an_input_mapping_that_fails_is_an_error_result() -> None:
    mapped = agent(tools={"look": "{task: work, input_mapping: {n: 1 / 0}}"})
    assert results(talk(mapped, chat(), says("", call("look"))).state()) == [("look", "INTERNAL_ERROR")]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        pytest.param({"message": "hi"}, Said("hi", NOW, "bob"), id="the message is the text"),
        pytest.param({"message": "hi", "n": 1}, Said("hi", NOW, "bob", data={"n": 1}), id="other fields are data"),
        pytest.param({"n": 1}, Said("", NOW, "bob", data={"n": 1}), id="also without a message"),
        pytest.param("hi", Said("hi", NOW, "bob"), id="a text"),
        pytest.param([1], Said("[1]", NOW, "bob"), id="anything else as JSON"),
    ],
)
def test_what_an_agent_is_told(value: Json, said: Said) -> None:
    assert said_from(value, NOW, "bob") == said


# what a result means


@pytest.mark.parametrize(
    ("tool", "step", "outcome"),
    [
        pytest.param("look", returns("tool:look", {"a": 1}), {"a": 1}, id="a task"),
        pytest.param("look", fails("tool:look"), "EXECUTION_FAILED", id="a failed task"),
        pytest.param("count", child_ends("tool:count", 7), 7, id="a run"),
        pytest.param("count", child_ends("tool:count", status="failed"), "EXECUTION_FAILED", id="a failed run"),
        pytest.param(
            "count",
            child_ends("tool:count", status="cancelled", error=RunError("cancelled", "x")),
            "CANCELLED",
            id="a cancelled run",
        ),
        pytest.param("ask_amy", turn_over("tool:ask_amy", status="failed"), "EXECUTION_FAILED", id="a failed turn"),
        pytest.param(
            "ask_amy",
            turn_over("tool:ask_amy", status="cancelled", error=TurnError("cancelled", "x")),
            "CANCELLED",
            id="a stopped turn",
        ),
        pytest.param(
            "ask_amy",
            turn_over("tool:ask_amy", status="failed", error=TurnError("agent_declined", "x")),
            "AGENT_DECLINED",
            id="an agent that declined",
        ),
        pytest.param("once", lost("tool:once"), "OUTCOME_UNKNOWN", id="a lost call that must not be made twice"),
    ],
)
def test_the_result_of(tool: str, step: Step, outcome: Json) -> None:
    told = ASKED.then(says("", call(tool)), step)
    assert results(told.state()) == [(tool, outcome)]
    assert nodes(told.state()) == ["model"]


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        pytest.param(TaskFailed("timed_out", "x"), ToolError("TIMEOUT", "x", True), id="too slow"),
        pytest.param(TaskFailed("cancelled", "x"), ToolError("CANCELLED", "x"), id="stopped"),
        pytest.param(TaskFailed("input_invalid", "x"), ToolError("INVALID_INPUT", "x", True), id="bad input"),
        pytest.param(TaskFailed("worker_lost", "x"), ToolError("INTERNAL_ERROR", "x"), id="our side"),
        pytest.param(
            TaskFailed("boom", "x", transient=True),
            ToolError("EXECUTION_FAILED", "boom: x", True),
            id="anything else, retriable if it may pass",
        ),
    ],
)
def test_the_error_result_of_a_failure(failure: TaskFailed, error: ToolError) -> None:
    assert failed_call(failure) == error


def test_a_large_result_of_a_run_is_a_preview_that_names_the_run() -> None:
    told = ASKED.then(says("", call("count")), child_ends("tool:count", "x" * 40_000))
    ((_, shown),) = results(told.state())
    assert isinstance(shown, dict)
    assert (shown["size"], shown["run_id"]) == (40_000, "r.1")


def test_a_lost_task_is_delivered_again_under_the_same_attempt() -> None:
    (again,) = ASKED.then(says("", call("look")), lost("tool:look")).made(d.RedeliverToken)
    assert (again.node, again.attempt, again.deliveries) == ("tool:look", 1, 2)


def test_only_calls_of_once_tools_are_made_once() -> None:
    state = ASKED.then(says("", call("once"), call("look"))).state()
    assert is_once(BOB, state, at_node(state, "tool:once"))
    assert not is_once(BOB, state, at_node(state, "tool:look"))
    assert not is_once(BOB, ASKED.state(), at_node(ASKED.state(), "model"))


@pytest.mark.parametrize(
    ("tool", "step", "tainted"),
    [
        pytest.param("web", returns("tool:web", "x"), True, id="a result of an untrusted tool"),
        pytest.param("web", fails("tool:web"), True, id="what it says when it fails"),
        pytest.param("web", rings(NOW + 2000), False, id="not that it is slow"),
        pytest.param("look", returns("tool:look", "x"), False, id="not what other tools say"),
        pytest.param("ask_amy", turn_over("tool:ask_amy", "x", tainted=True), True, id="an agent that read such"),
        pytest.param("ask_amy", turn_over("tool:ask_amy", "x"), False, id="not one that did not"),
    ],
)
def test_what_taints_a_turn(tool: str, step: Step, tainted: bool) -> None:
    assert ASKED.then(says("", call(tool)), step).state().talk.turns[1].tainted is tainted


def test_a_tainted_turn_taints_those_whom_it_asks() -> None:
    told = ASKED.then(says("", call("web")), returns("tool:web", "x"), says("", call("ask_amy")))
    start, sent = (each.message for each in told.commit().effects if isinstance(each, SendMessage))
    assert isinstance(start, StartRun)
    assert start.parent is not None
    assert start.parent.speaker is not None
    assert start.parent.speaker.tainted
    assert isinstance(sent, ChatSent)
    assert sent.caller.tainted
    assert talk(BOB, chat(caller=Caller(agent="amy", tainted=True))).state().talk.turns[1].tainted


RETRYING = agent(tools={"look": "{task: work, retry: {max_attempts: 2, initial_delay_ms: 10}}"})


def test_a_tool_with_a_policy_is_tried_again_whatever_failed() -> None:
    told = talk(RETRYING, chat(), says("", call("look")), fails("tool:look"))
    (retry,) = told.made(d.RetryToken)
    assert (retry.attempt, nodes(told.state())) == (2, ["tool:look"])
    again = told.then(rings(NOW + 1000))
    assert [each.attempt for each in again.made(d.DispatchToken)] == [2]
    assert results(again.then(fails("tool:look")).state()) == [("look", "EXECUTION_FAILED")]
    assert results(again.then(returns("tool:look", 1)).state()) == [("look", 1)]


@pytest.mark.parametrize(
    ("failure", "code"),
    [("input_invalid", "INVALID_INPUT"), ("timed_out", "TIMEOUT"), ("worker_lost", "INTERNAL_ERROR")],
)
def test_these_failures_are_final(failure: str, code: str) -> None:
    told = talk(RETRYING, chat(), says("", call("look")), fails("tool:look", TaskFailed(failure, "x")))
    assert results(told.state()) == [("look", code)]


def test_without_a_policy_it_is_not() -> None:
    assert ASKED.then(says("", call("look")), fails("tool:look")).made(d.RetryToken) == []


def test_of_a_call_that_must_not_be_made_twice_a_timeout_leaves_the_outcome_unknown() -> None:
    assert failed_call(TaskFailed("timed_out", "x"), once=True).code == "OUTCOME_UNKNOWN"


@pytest.mark.parametrize(
    ("caller", "view"),
    [
        pytest.param(Caller(user="ann"), {"type": "user", "user": "ann", "agent": None, "run_id": None}, id="a user"),
        pytest.param(
            Caller(agent="amy", run=None),
            {"type": "agent", "user": None, "agent": "amy", "run_id": None},
            id="an agent",
        ),
    ],
)
def test_the_caller_as_expressions_read_it(caller: Caller, view: Json) -> None:
    assert caller_view(caller) == view


# async


def test_an_async_call_is_acknowledged_at_once_and_text_is_the_reply() -> None:
    told = ASKED.then(says("On it.", call("slow")))
    assert results(told.state()) == [("slow", {"status": "started", "call": "call_1_0_0"})]
    assert told.made(d.LingerTurn) == [d.LingerTurn(1)]
    assert told.made(d.AskModel) == []


def test_an_async_call_that_could_not_be_made_goes_back_to_the_model() -> None:
    strict = agent(tools={"slow": "{task: work, async: true, input_schema: {type: object, required: [a]}}"})
    assert nodes(talk(strict, chat(), says("On it.", call("slow"))).state()) == ["model"]


def test_without_text_the_model_is_asked_for_one() -> None:
    told = ASKED.then(says("", call("slow")))
    assert nodes(told.state()) == ["tool:slow", "model"]
    assert told.then(says("On it.")).made(d.LingerTurn) == [d.LingerTurn(1)]


def test_beside_a_sync_call_it_is_not_waited_for() -> None:
    told = ASKED.then(says("Both.", call("slow"), call("look")), returns("tool:look", 1))
    assert nodes(told.state()) == ["tool:slow", "model"]


def test_its_result_is_told_on_the_same_turn() -> None:
    told = ASKED.then(says("On it.", call("slow")), returns("tool:slow", 7), says("It is 7."))
    turn = told.state().talk.turns[1]
    assert (turn.status, turn.moves) == ("completed", 2)
