"""The calls of a turn as tokens: what each asks for, and what its result or failure means."""

import msgspec
import pytest

from jeton.model import decision as d
from jeton.model.chat import UserMessage
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.json import Json
from jeton.model.state.talk import TurnError
from jeton.planning.turns.calls import plan_call_begin, plan_call_failure, plan_call_success
from tests.planning.talking import (
    BOB,
    NOW,
    Step,
    agent,
    at_node,
    call,
    chat,
    child_ends,
    fails,
    lost,
    nodes,
    returns,
    rings,
    says,
    talk,
    texts,
)

MEMORY = "memory: {types: {fact: {}}}"
REMEMBERING = agent(MEMORY)
OWN_WORKFLOWS = agent("context_assembly: child, memory_extraction: child, compaction: child")
TIMED = agent("turn_timeout_ms: 100")
FULL = "{provider: scripted, context_window: 40, parameters: {max_tokens: 4}, script: [{text: Hello.}]}"
COMPACTING = agent("compaction: child", profile=FULL)


def test_a_model_call_is_dispatched_without_a_stored_input() -> None:
    (dispatch,) = talk(BOB, chat()).made(d.DispatchToken)
    assert dispatch.node == "model"
    assert dispatch.input is msgspec.UNSET


def test_a_turn_with_workflows_of_its_own_calls_them_as_runs() -> None:
    told = talk(OWN_WORKFLOWS, chat("hi"))
    (run,) = told.made(d.CallWorkflow)
    assert (run.node, run.workflow) == ("assembly", "child")
    told = told.then(child_ends("assembly", {"messages": []}), says("Hello."))
    assert [each.input for each in told.made(d.DispatchToken)] == [{"query": "hi Hello.", "limit": 8}]
    found: Json = [{"id": "m1", "content": "Ann is here.", "source": {"tainted": True}}]
    told = told.then(returns("similar", {"memories": found}))
    assert told.state().talk.turns[1].tainted  # what is extracted may come from there
    (run,) = told.made(d.CallWorkflow)
    assert run.node == "extraction"
    assert isinstance(run.input, dict)
    assert run.input["memories"] == found
    assert (run.input["message"], run.input["replies"], run.input["conversation_id"]) == ("hi", ["Hello."], "r")
    assert [end.status for end in told.then(child_ends("extraction", {})).made(d.EndTurn)] == ["completed"]


def test_recall_comes_before_the_model_and_extraction_after_it() -> None:
    told = talk(REMEMBERING, chat("hi"))
    assert nodes(told.state()) == ["recall"]
    told = told.then(returns("recall", {"memories": []}), says("Hello."))
    assert nodes(told.state()) == ["extraction"]
    told = told.then(returns("extraction", {"used": [1]}))
    assert told.made(d.UseScript) == [d.UseScript("bob", (1,))]
    assert told.state().talk.turns[1].status == "completed"


def test_a_failed_extraction_flags_the_turn_and_does_not_fail_it() -> None:
    told = talk(REMEMBERING, chat(), returns("recall", {"memories": []}), says("Hello."), fails("extraction"))
    turn = told.state().talk.turns[1]
    assert (turn.status, turn.issues) == ("completed", {"memory_extraction_failed": "it broke"})


def test_failed_assembly_fails_the_turn_before_any_model_call_and_the_caller_is_told() -> None:
    told = talk(OWN_WORKFLOWS, chat(), child_ends("assembly", status="failed"))
    (end,) = told.made(d.EndTurn)
    assert (end.status, end.error and end.error.type) == ("failed", "assembly_failed")
    assert nodes(told.state()) == []
    told = talk(REMEMBERING, chat(), fails("recall"))
    assert [end.error and end.error.type for end in told.made(d.EndTurn)] == ["assembly_failed"]


def test_a_turn_that_takes_too_long_fails_and_everything_in_it_stops() -> None:
    told = talk(TIMED, chat(), says("", call("look")))
    assert sorted(nodes(told.state())) == ["timeout", "tool:look"]
    late = told.then(rings(NOW + 100))
    (end,) = late.made(d.EndTurn)
    assert end.error == TurnError("timed_out", "the turn was not done 100 ms after it began")
    assert nodes(late.state()) == []


def test_the_timeout_ends_with_the_turn() -> None:
    assert nodes(talk(TIMED, chat(), says("Hello.")).state()) == []


def test_a_model_call_whose_workers_are_all_lost_fails_the_turn() -> None:
    told = talk(BOB, chat(), *[lost("model")] * 4)
    assert len(told.made(d.RedeliverToken)) == 1
    (end,) = told.then(lost("model")).made(d.EndTurn)
    assert end.error is not None
    assert end.error.type == "worker_lost"


def test_what_a_lost_worker_streamed_is_void_and_in_no_history() -> None:
    told = talk(BOB, chat("hi"), lost("model"))
    assert told.made(d.RestartMove) == [d.RestartMove(1, 0, 2)]
    assert texts(told.state(), 1) == ["user: hi"]
    assert talk(BOB, chat(), says("", call("look")), lost("tool:look")).made(d.RestartMove) == []


def test_a_summary_stands_for_the_turns_that_left() -> None:
    told = talk(COMPACTING, chat("one " * 20), says("1"), chat("two"))
    assert nodes(told.state()) == ["compaction"]
    done = told.then(child_ends("compaction", {"summary": "We counted."}))
    assert texts(done.state(), 2) == ["user: Summary of the conversation before this point:\nWe counted.", "user: two"]
    assert nodes(done.state()) == ["model"]


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(child_ends("compaction", {}), id="without a summary"),
        pytest.param(child_ends("compaction", status="failed"), id="failed"),
    ],
)
def test_turns_that_cannot_be_summarised_are_left_out_and_a_line_says_so(step: Step) -> None:
    told = talk(COMPACTING, chat("one " * 20), says("1"), chat("two"), step)
    state = told.state()
    assert texts(state, 2) == ["user: (Earlier turns of this conversation are left out here.)", "user: two"]
    assert "compaction_failed" in state.talk.turns[2].issues
    assert nodes(state) == ["model"]


def test_a_call_of_another_kind_is_our_bug() -> None:
    state = talk(BOB, chat()).state()
    odd = msgspec.structs.replace(at_node(state, "model"), node="budgie")
    with pytest.raises(BrokenInvariant, match="no known kind"):
        plan_call_begin(BOB, state, odd, NOW)
    with pytest.raises(BrokenInvariant, match="no known kind"):
        plan_call_success(BOB, state, odd, None, NOW)


def test_any_other_failure_ends_the_turn_with_its_type() -> None:
    state = talk(BOB, chat()).state()
    *_, end = plan_call_failure(BOB, state, at_node(state, "model"), TaskFailed("template_error", "x"), NOW)
    assert end == d.EndTurn(1, NOW, "failed", TurnError("template_error", "x"))


def test_a_request_whose_calls_and_results_do_not_match_is_never_sent() -> None:
    told = talk(BOB, chat("hi"), says("", call("look")), returns("tool:look", 1))
    state = told.state()
    move = state.talk.moves[1, 0]
    state.talk.moves[1, 0] = type(move)(move.order, move.text, (*move.calls, *move.calls), (UserMessage("x"),))
    state.talk.results[1, 0, 1] = state.talk.results[1, 0, 0]
    with pytest.raises(BrokenInvariant, match="do not match"):
        plan_call_begin(BOB, state, at_node(state, "model"), NOW)
