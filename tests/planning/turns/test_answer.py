"""What follows from a model's answer."""

import pytest

from jeton.model import decision as d
from jeton.model.chat import CalledTool, ModelAnswer, ModelFailed, ToolError
from jeton.model.json import Json
from jeton.model.state.talk import TurnError
from jeton.planning.turns.answer import CUT, plan_reply
from tests.planning.talking import (
    BOB,
    NOW,
    Step,
    Talk,
    agent,
    call,
    chat,
    model_fails,
    nodes,
    replies,
    results,
    returns,
    says,
    talk,
    texts,
    working,
)

ASKED = talk(BOB, chat("hi"))
SHORT = agent("max_moves_per_turn: 1")


def test_text_is_the_reply_and_ends_the_turn() -> None:
    state = ASKED.state()
    token = working(state, "model")
    result: Json = {"kind": "answer", "text": "Hello.", "profile": "fake"}
    routed, move = plan_reply(BOB, state, token, result, NOW)
    assert routed == d.RouteToken(token.id, "model", "completed")
    assert isinstance(move, d.AddMove)
    assert (move.turn, move.number, move.move.text, move.move.by) == (1, 0, "Hello.", "bob")
    assert ASKED.then(says("Hello.")).made(d.EndTurn) == [d.EndTurn(1, NOW, "completed", text="Hello.")]


@pytest.mark.parametrize(
    ("reply", "then"),
    [
        pytest.param(says("", call("look", q="x")), ["tool:look"], id="a call is made"),
        pytest.param(says("Wait.", call("look", q="x")), ["tool:look"], id="also with text, which is said at once"),
        pytest.param(says(), ["model"], id="no text and no call: it is asked once more"),
        pytest.param(says("  \n"), ["model"], id="blanks are no text"),
        pytest.param(says("", call("gone")), ["model"], id="a call that cannot be made goes back to the model"),
    ],
)
def test_what_is_under_way_after_an_answer(reply: Step, then: list[str]) -> None:
    assert nodes(ASKED.then(reply).state()) == then


@pytest.mark.parametrize(
    ("told", "error"),
    [
        pytest.param(
            ASKED.then(says(), says()),
            TurnError("empty_answer", "the model answered twice without text and without calling a tool"),
            id="two answers without anything in them",
        ),
        pytest.param(ASKED.then(model_fails("model_error")), TurnError("model_error", "it is down"), id="no answer"),
        pytest.param(
            ASKED.then(model_fails("context_too_long")),
            TurnError("context_too_long", "it is down"),
            id="a message that is too long by itself",
        ),
        pytest.param(
            talk(SHORT, chat(), says("", call("look")), returns("tool:look", 1), says("", call("look"))),
            TurnError("move_limit", "the model made 1 moves and then gave no answer"),
            id="at the limit of moves, calls without text",
        ),
    ],
)
def test_a_turn_fails_with(told: Talk, error: TurnError) -> None:
    (end,) = told.made(d.EndTurn)
    assert (end.status, end.error) == ("failed", error)
    assert nodes(told.state()) == []


def test_a_reply_of_another_form_fails_the_turn() -> None:
    (end,) = ASKED.then(returns("model", 7)).made(d.EndTurn)
    assert end.error is not None
    assert (end.status, end.error.type) == ("failed", "bad_result")


def test_an_empty_answer_after_a_nudge_and_a_call_is_nudged_again() -> None:
    told = ASKED.then(says(), says("", call("look")), returns("tool:look", 1), says())
    assert nodes(told.state()) == ["model"]


def test_calls_get_ids_of_our_own_that_are_used_once() -> None:
    told = ASKED.then(says("", call("look"), call("look")), returns("tool:look", 1), returns("tool:look", 2))
    told = told.then(says("", call("look")))
    ids = [each.id for move in told.state().talk.moves.values() for each in move.calls]
    assert ids == ["call_1_0_0", "call_1_0_1", "call_1_1_0"]


def test_at_the_limit_of_moves_the_model_is_asked_once_more_without_tools() -> None:
    told = talk(SHORT, chat(), says("", call("look")), returns("tool:look", 1))
    assert told.made(d.FlagTurn) == [d.FlagTurn(1, "move_limit")]
    (ask,) = told.made(d.AskModel)
    assert ask.last
    state = told.then(says("Done.", call("look"))).state()
    assert (state.talk.turns[1].status, state.talk.turns[1].moves) == ("completed", 2)
    assert state.talk.calls_of(1, 1) == ()  # the call was not run


def test_a_call_that_was_cut_is_not_run_and_a_whole_one_before_it_is() -> None:
    calls = (call("look", q="x"), CalledTool("look", raw='{"q": "y'))
    told = ASKED.then(replies(ModelAnswer("", calls, finish="length")))
    assert told.made(d.FlagTurn) == [d.FlagTurn(1, "truncated")]
    assert nodes(told.state()) == ["tool:look"]
    (answered,) = told.made(d.AnswerCall)
    assert (answered.call, answered.result.result.error) == (1, ToolError("INVALID_INPUT", CUT, True))


def test_text_that_was_cut_is_the_reply_and_flagged() -> None:
    state = ASKED.then(replies(ModelAnswer("Once upon", finish="length"))).state()
    assert (state.talk.turns[1].status, state.talk.turns[1].issues) == ("completed", {"truncated": True})


def test_entries_of_a_script_are_counted_per_agent_also_for_calls_without_an_answer() -> None:
    told = ASKED.then(replies(ModelFailed("model_error", "x", used=(0, 1))), chat("again"))
    assert told.state().talk.head.script == {"bob": ((0, 1),)}
    assert told.then(replies(ModelAnswer("ok", used=(2,)))).state().talk.head.script == {"bob": ((0, 2),)}
    assert ASKED.then(replies(ModelAnswer(used=(4,)))).state().talk.head.script == {"bob": ((4, 4),)}


def test_a_model_that_refuses_fails_the_turn_and_what_it_said_is_the_reply() -> None:
    told = ASKED.then(replies(ModelAnswer("Not that.", (call("look"),), finish="refused", used=(3,))))
    (end,) = told.made(d.EndTurn)
    assert (end.status, end.error, end.text) == ("failed", TurnError("agent_declined", "Not that."), "Not that.")
    assert texts(told.state(), 1) == ["user: hi", "assistant: Not that."]
    assert (told.state().talk.calls_of(1, 0), told.state().talk.head.script) == ((), {"bob": ((3, 3),)})
    (end,) = ASKED.then(replies(ModelAnswer(finish="refused"))).made(d.EndTurn)
    assert end.error == TurnError("agent_declined", "the model refused to answer")


def test_an_answer_that_was_committed_stays_when_the_next_call_fails() -> None:
    told = ASKED.then(says("Wait.", call("look")), returns("tool:look", 1), model_fails())
    assert texts(told.state(), 1) == ["user: hi", "assistant: Wait.", "tool: "]
    assert results(told.state()) == [("look", 1)]
