"""Chat messages: a turn of their own, more for a turn that moves, or the end of it; and whose time it is."""

import pytest

from jeton.actor.advance import LiveRun, advance
from jeton.model import decision as d
from jeton.model.chat import Speaker
from jeton.model.effect import SendMessage
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json
from jeton.model.message import StartRun, StopTurn, TurnOver
from jeton.model.state.run import Head, Parent, RunState
from jeton.model.state.talk import Caller, Given, Said, TurnError
from jeton.planning.turns.chat import plan_chat, plan_next_turn, plan_stop
from tests.planning.given import RUN, given, started, workflow
from tests.planning.talking import (
    BOB,
    NOW,
    Talk,
    agent,
    call,
    caller_run,
    chat,
    nodes,
    results,
    returns,
    says,
    stop,
    talk,
    texts,
)

EMPTY = talk(BOB)
MOVING = talk(BOB, chat("one"))
LINGERING = MOVING.then(says("On it.", call("slow")))


def phases(told: Talk) -> list[str]:
    return [turn.phase for turn in told.state().talk.turns.values()]


INVITED = MOVING.then(says("Let me ask.", call("invite")))


def heard(told: Talk) -> Talk:
    """The conversation, after what it sent to itself."""
    while True:
        own = [each.message for each in told.commit().effects if isinstance(each, SendMessage) and each.run == RUN]
        if not own:
            return told
        told = told.then(*own)


def test_a_chat_message_is_a_turn() -> None:
    message = chat("hi", key="k")
    assert plan_chat(BOB, EMPTY.state(), message) == [
        d.AddTurn(1, "bob", message.caller, Given(Said("hi", NOW, "ann")), "k"),
        d.ReplyTo("m", accepted=True, turn=1),
    ]


def test_the_same_key_twice_is_one_chat_message() -> None:
    told = talk(BOB, chat("one", key="k"), says("1"), chat("one", key="k"))
    assert told.last() == [d.ReplyTo("m", accepted=True, why="known", turn=1)]
    steered = MOVING.then(chat("more", key="k", when_busy="steer"), chat("more", key="k", when_busy="steer"))
    assert steered.last() == [d.ReplyTo("m", accepted=True, why="known", turn=1)]


def test_an_agent_that_has_not_joined_is_not_written_to() -> None:
    (reply,) = EMPTY.then(chat(to="amy")).last()
    assert isinstance(reply, d.ReplyTo)
    assert (reply.accepted, reply.code, reply.remedy) == (False, "unknown_agent", "write to bob")


def test_an_agent_that_the_newest_version_lacks_is_not_written_to_and_a_queued_turn_of_it_fails() -> None:
    told = heard(heard(INVITED).then(says("So.", node="model:amy"))).then(chat("And?", to="amy"))
    without = agent(tools={"invite": "{task: work}"})
    state = told.state()
    (reply,) = plan_chat(without, state, chat("More.", to="amy"))
    assert isinstance(reply, d.ReplyTo)
    assert (reply.accepted, reply.remedy) == (False, "write to bob")
    state.talk.turns.pop(1)
    (end,) = plan_next_turn(without, state, NOW)
    assert isinstance(end, d.EndTurn)
    assert end.error is not None
    assert (end.turn, end.error.type) == (3, "unknown_agent")


def test_a_run_that_is_not_a_conversation_takes_no_turn_and_who_waits_is_told() -> None:
    plain = workflow("nodes: {a: {task: work}}")
    state = given(plain, started()).state()
    (refused,) = plan_chat(plain, state, chat(caller=caller_run()))
    assert isinstance(refused, d.RefuseChat)
    assert refused.error.type == "not_a_conversation"
    assert plan_chat(plain, state, chat()) == []


# while a turn moves


def test_queued_it_is_the_next_turn() -> None:
    told = MOVING.then(chat("two"))
    assert phases(told) == ["deciding", "queued"]
    assert phases(told.then(says("1"))) == ["ended", "deciding"]


def test_queued_turns_are_taken_in_order() -> None:
    told = MOVING.then(chat("two"), chat("three"), says("1"))
    assert phases(told) == ["ended", "deciding", "queued"]


def test_steered_it_is_in_the_next_model_call_of_the_turn() -> None:
    told = MOVING.then(says("", call("look")), chat("two", when_busy="steer"))
    assert told.made(d.AddTurn) == []
    assert texts(told.then(returns("tool:look", 1)).state(), 1)[-1] == "user: two"


def test_if_the_model_was_done_it_makes_one_more_move() -> None:
    told = MOVING.then(chat("two", when_busy="steer"), says("1"))
    assert phases(told) == ["deciding"]
    assert texts(told.state(), 1) == ["user: one", "assistant: 1", "user: two"]
    assert phases(told.then(says("2"))) == ["ended"]


def test_steering_refuses_open_approvals_with_it_as_the_reason() -> None:
    told = MOVING.then(says("", call("pay", sum=3)), chat("no, less", when_busy="steer"))
    (answered,) = told.made(d.AnswerCall)
    assert answered.result.result.error is not None
    assert answered.result.result.error.message == "a person refused this call: no, less"
    assert texts(told.state(), 1)[-2:] == ["tool: ", "user: no, less"]


def test_without_a_turn_that_moves_steering_is_a_turn() -> None:
    assert phases(EMPTY.then(chat(when_busy="steer"))) == ["deciding"]
    assert phases(LINGERING.then(chat(when_busy="steer"))) == ["lingering", "deciding"]


def test_an_interruption_stops_the_turn_and_is_the_next() -> None:
    told = MOVING.then(says("", call("look")), chat("two", when_busy="interrupt"))
    turns = told.state().talk.turns
    assert (turns[1].status, turns[1].error) == (
        "cancelled",
        TurnError("interrupted", "another message came in its place"),
    )
    assert results(told.state()) == [("look", "CANCELLED")]
    assert turns[2].phase == "deciding"


# stop


def test_stop_ends_all_turns_that_have_begun_and_the_queued_go_on() -> None:
    told = LINGERING.then(chat("two"), chat("three"), stop(reason="enough"))
    assert phases(told) == ["ended", "ended", "deciding"]
    assert [end.error for end in told.made(d.EndTurn)] == [TurnError("cancelled", "enough")] * 2


def test_stop_of_one_turn_leaves_the_others() -> None:
    told = LINGERING.then(chat("two"), stop(1))
    assert phases(told) == ["ended", "deciding"]


def test_a_queued_turn_is_withdrawn() -> None:
    told = MOVING.then(chat("two"), stop(2))
    assert phases(told) == ["deciding", "ended"]
    assert d.ReplyTo("m", accepted=True, turn=2) in told.last()


def test_what_was_withdrawn_is_in_no_history() -> None:
    told = MOVING.then(chat("two"), stop(2), says("1"), chat("three"))
    assert texts(told.state(), 3) == ["user: one", "assistant: 1", "user: three"]


@pytest.mark.parametrize(
    ("told", "message", "why"),
    [
        pytest.param(EMPTY, stop(), "no turn moves", id="nothing moves"),
        pytest.param(MOVING.then(says("1")), stop(1), "turn 1 is not active", id="a turn that has ended"),
        pytest.param(MOVING, stop(9), "turn 9 is not active", id="a turn that never was"),
    ],
)
def test_there_is_nothing_to_stop(told: Talk, message: StopTurn, why: str) -> None:
    (reply,) = plan_stop(BOB, told.state(), message)
    assert isinstance(reply, d.ReplyTo)
    assert (reply.accepted, reply.code, reply.why) == (False, "turn_ended", why)


def test_a_run_stops_the_turn_that_it_asked_for_and_no_other() -> None:
    told = MOVING.then(chat("two", caller=caller_run("p", 7)))
    withdrawn = told.then(StopTurn(NOW, run=caller_run().run, token=caller_run().token))
    assert [end.turn for end in withdrawn.made(d.EndTurn)] == [2]
    assert withdrawn.made(d.ReplyTo) == []
    assert told.then(StopTurn(NOW, run=caller_run().run, token=caller_run(token=8).token)).last() == []


# whose time it is


def test_while_a_turn_lingers_the_next_begins() -> None:
    assert phases(LINGERING.then(chat("two"))) == ["lingering", "deciding"]


def test_a_lingering_turn_goes_on_when_no_other_moves() -> None:
    told = LINGERING.then(chat("two"), returns("tool:slow", 7))
    assert phases(told) == ["lingering", "deciding"]
    told = told.then(says("2"))
    assert phases(told) == ["deciding", "ended"]
    assert phases(told.then(says("It is 7."))) == ["ended", "ended"]


def test_with_nothing_to_do_nothing_is_planned() -> None:
    for told in (EMPTY, MOVING, LINGERING):
        assert plan_next_turn(BOB, told.state(), NOW) == []


def test_several_turns_may_be_active_and_do_not_mix() -> None:
    told = LINGERING.then(chat("two"), says("And on this.", call("slow")))
    assert phases(told) == ["lingering", "lingering"]
    told = told.then(returns("tool:slow", "first"))
    assert nodes(told.state()) == ["tool:slow", "model"]
    assert phases(told) == ["deciding", "lingering"]


# agents that are looped in


def test_an_agent_that_is_looped_in_joins_and_takes_a_turn_of_its_own_at_once() -> None:
    told = heard(INVITED)
    assert told.state().talk.head.participants == ("amy",)
    assert phases(told) == ["executing", "deciding"]
    assert told.state().talk.turns[2].agent == "amy"
    assert texts(told.state(), 2) == ["user: one", "user: bob: Let me ask.", "user: bob: How?"]


def test_it_answers_where_all_can_read_and_the_caller_too() -> None:
    told = heard(heard(INVITED).then(says("So.", node="model:amy")))
    assert phases(told) == ["deciding", "ended"]
    assert results(told.state()) == [("invite", {"text": "So."})]


def test_it_stays_and_messages_to_it_are_its_turns() -> None:
    told = heard(heard(INVITED).then(says("So.", node="model:amy"))).then(says("Done."), chat("And?", to="amy"))
    assert told.state().talk.turns[3].agent == "amy"
    assert texts(told.state(), 3)[-2:] == ["user: bob: Done.", "user: And?"]
    told = told.then(says("Yes.", node="model:amy"), chat("Bob?"))
    assert texts(told.state(), 4)[-3:] == ["user: And?", "user: amy: Yes.", "user: Bob?"]


def test_a_run_that_asks_an_agent_who_is_not_here_is_told() -> None:
    told = EMPTY.then(chat("hi", to="amy", caller=caller_run()))
    (effect,) = told.commit().effects
    assert isinstance(effect, SendMessage)
    assert isinstance(effect.message, TurnOver)
    assert (effect.run, effect.message.status) == ("p", "failed")
    assert effect.message.error == TurnError("unknown_agent", "'amy' has not joined this conversation")


def test_a_conversation_that_an_agent_began_ends_with_its_answer() -> None:
    run = LiveRun(RunState(Head(RUN, "agent:bob")))
    speaker = Speaker("amy", "c", 1)
    parent = Parent(RunId("c"), TokenId(7), RunId("c"), 1, speaker=speaker)
    advance(BOB, run, [StartRun(0, None, parent=parent)])
    assert not run.state.head.ended
    advance(BOB, run, [chat("How?", caller=caller_run("c", 7))])
    commit = advance(BOB, run, [StopTurn(NOW)])
    assert run.state.head.status == "completed"
    assert [type(each.message) for each in commit.effects if isinstance(each, SendMessage)] == [TurnOver]


@pytest.mark.parametrize(
    ("caller", "input", "user"),
    [
        pytest.param(Caller(), {"user": "ann"}, "ann", id="nobody is named: the user that it was begun for"),
        pytest.param(Caller(user="eve"), {"user": "ann"}, "eve", id="another user"),
        pytest.param(caller_run(), {"user": "ann"}, None, id="a run is no user"),
        pytest.param(Caller(agent="amy"), {"user": "ann"}, None, id="an agent is no user"),
        pytest.param(Caller(), {"user": None}, None, id="a conversation that was begun for nobody"),
        pytest.param(Caller(), "text", None, id="a conversation that another began"),
    ],
)
def test_whose_turn_it_is(caller: Caller, input: Json, user: str | None) -> None:
    run = LiveRun(RunState(Head(RUN, "agent:bob")))
    advance(BOB, run, [StartRun(0, input), chat("hi", caller=caller)])
    assert run.state.talk.turns[1].caller.user == user
