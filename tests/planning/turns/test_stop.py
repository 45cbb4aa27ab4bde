"""The end of a turn: everything under way in it ends, open calls get a result, and the caller is told."""

import pytest
from msgspec.structs import replace

from jeton.model import decision as d
from jeton.model.chat import SeenText
from jeton.model.effect import SendMessage, StopTask
from jeton.model.message import CancelRun, StopTurn, TurnOver
from jeton.planning.turns.stop import end_turn, last_reply
from tests.planning.talking import (
    BOB,
    NOW,
    Step,
    Talk,
    call,
    caller_run,
    chat,
    model_fails,
    nodes,
    results,
    returns,
    says,
    stop,
    talk,
    texts,
)

MOVING = talk(BOB, chat("one"))


@pytest.mark.parametrize(
    ("calls", "kind"),
    [
        pytest.param(("look",), StopTask, id="a task is withdrawn"),
        pytest.param(("count",), CancelRun, id="a run is cancelled"),
        pytest.param(("ask_amy",), StopTurn, id="a delegated turn is stopped"),
    ],
)
def test_what_is_under_way_ends(calls: tuple[str, ...], kind: type) -> None:
    told = MOVING.then(says("", *(call(name) for name in calls)), stop())
    effects = [effect.message if isinstance(effect, SendMessage) else effect for effect in told.commit().effects]
    assert [type(effect) for effect in effects] == [kind]
    assert nodes(told.state()) == []


def test_the_stream_is_closed() -> None:
    assert [type(effect) for effect in MOVING.then(stop()).commit().effects] == [StopTask]


def test_gates_are_cancelled_and_every_open_call_has_a_result() -> None:
    told = MOVING.then(says("", call("look"), call("pay", sum=1)), returns("tool:look", 1), stop())
    assert results(told.state()) == [("look", 1), ("pay", "CANCELLED")]
    assert nodes(told.state()) == []


def test_the_conversation_is_as_usable_as_before() -> None:
    told = MOVING.then(says("", call("look")), stop(), chat("two"))
    assert texts(told.state(), 2) == ["user: one", "assistant: ", "tool: ", "user: two"]
    assert told.then(says("2")).state().talk.turns[2].status == "completed"


@pytest.mark.parametrize(
    ("told", "status", "text"),
    [
        pytest.param(says("Hello."), "completed", "Hello.", id="completed, with the reply"),
        pytest.param(stop(reason="no"), "cancelled", "", id="stopped"),
    ],
)
def test_the_caller_is_told(told: Step, status: str, text: str) -> None:
    asked = talk(BOB, chat("one", caller=caller_run()))
    (effect,) = [each for each in asked.then(told).commit().effects if isinstance(each, SendMessage)]
    message = effect.message
    assert isinstance(message, TurnOver)
    assert (effect.run, message.token, message.status, message.text) == ("p", 7, status, text)


def test_the_reply_is_the_last_text() -> None:
    state = MOVING.then(says("Wait.", call("look")), returns("tool:look", 1), says("", call("look"))).state()
    assert last_reply(state, state.talk.turns[1]) == ("Wait.", None)


def test_a_token_that_has_just_ended_is_not_ended_again() -> None:
    state = MOVING.state()
    (token,) = state.tokens.values()
    assert end_turn(state, state.talk.turns[1], NOW, "completed", after=token) == [d.EndTurn(1, NOW, "completed")]


# the history afterwards

STEERED = MOVING.then(says("", call("look")), chat("more", when_busy="steer"))


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(STEERED.then(stop()), id="a message for the next call, when the turn is stopped"),
        pytest.param(STEERED.then(returns("tool:look", 1), stop()), id="what the model was being asked"),
        pytest.param(STEERED.then(returns("tool:look", 1), model_fails()), id="also when it gives no answer"),
    ],
)
def test_what_was_said_stays_in_the_history(told: Talk) -> None:
    (move,) = told.made(d.AddMove)
    assert move.move.interrupted
    assert texts(told.then(chat("two")).state(), 2)[-2:] == ["user: more", "user: two"]


def test_async_work_that_was_stopped_and_results_that_came_are_told_to_later_turns() -> None:
    told = MOVING.then(says("On it.", call("slow"), call("slow")), chat("two"), returns("tool:slow", 7), stop(1))
    assert texts(told.then(says("2"), chat("three")).state(), 3)[-2] == (
        "user: Results of work that went on in the background:\n- call_1_0_0 (slow): 7\n- call_1_0_1 (slow): error "
        '{"code":"CANCELLED","message":"the turn was stopped"}'
    )


def test_text_that_the_user_saw_stays_as_an_interrupted_reply() -> None:
    message = StopTurn(NOW, "m", seen=(SeenText(1, 0, "Once upon"), SeenText(1, 4, "never")))
    told = MOVING.then(message)
    (move,) = told.made(d.AddMove)
    assert (move.move.text, move.move.interrupted) == ("Once upon", True)
    assert [end.text for end in told.made(d.EndTurn)] == ["Once upon"]
    assert texts(told.then(chat("two")).state(), 2) == ["user: one", "assistant: Once upon", "user: two"]


def test_an_interruption_keeps_it_too() -> None:
    told = MOVING.then(replace(chat("two", when_busy="interrupt"), seen=(SeenText(1, 0, "Once upon"),)))
    assert texts(told.state(), 2) == ["user: one", "assistant: Once upon", "user: two"]


def test_text_of_an_answer_that_was_committed_meanwhile_is_not_said_twice() -> None:
    told = MOVING.then(says("Once upon a time.", call("look")), StopTurn(NOW, "m", seen=(SeenText(1, 0, "Once"),)))
    assert told.made(d.AddMove) == []
