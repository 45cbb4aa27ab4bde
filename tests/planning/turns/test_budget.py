"""Budgets of turns and conversations, and the credits of an account."""

import pytest
from msgspec.structs import replace

from jeton.model import decision as d
from jeton.model.chat import ModelAnswer, ModelFailed, ModelReply, TokenUsage
from jeton.model.json import Json
from jeton.model.message import AnswerGate, CreditsEnded, CreditsGranted, TaskNoted
from jeton.model.note import TokensNote
from jeton.model.state.phase import WaitingForGate
from jeton.model.state.talk import TurnError
from jeton.planning.program.workflow import Program
from jeton.planning.turns.budget import most_cost, plan_budget_answer, price_of, spent, spent_by_run
from tests.planning.talking import (
    BOB,
    NOW,
    Step,
    agent,
    at_node,
    call,
    chat,
    nodes,
    replies,
    returns,
    says,
    stop,
    talk,
    working,
)

PRICED = (
    "{provider: scripted, prices: {input: 0, output: 10000}, parameters: {max_tokens: 100}, script: [{text: Hello.}]}"
)
"""A call may cost one credit: 100 tokens at a hundredth each."""


def with_budget(budget: str) -> Program:
    return agent(f"budget: {{{budget}}}", profile=PRICED)


def costing(tokens: int, text: str = "", *names: str) -> ModelAnswer:
    """An answer of this many tokens."""
    return ModelAnswer(text, tuple(call(name) for name in names), TokenUsage(0, tokens), profile="fake")


ONE, TWO = with_budget("turn: 1"), with_budget("turn: 2")
TALK = with_budget("conversation: 2")
ASKING = with_budget("turn: 1, on_empty: ask")


def test_a_call_may_cost_its_request_and_the_longest_answer() -> None:
    state = talk(ONE, chat()).state()
    assert most_cost(ONE, state, state.talk.turns[1]) == 1_000_000
    assert most_cost(BOB, state, state.talk.turns[1]) == 0
    assert price_of(ONE, state, working(state, "model")) == 1
    assert price_of(BOB, state, working(state, "model")) == 1  # as any node


@pytest.mark.parametrize(
    ("reply", "cost"),
    [
        pytest.param(costing(30), [d.SpendBudget(1, 300_000)], id="an answer"),
        pytest.param(ModelFailed("x", "y", usage=TokenUsage(0, 5)), [d.SpendBudget(1, 50_000)], id="a failed call"),
        pytest.param(ModelAnswer("x"), [], id="nothing, without tokens"),
        pytest.param(
            ModelAnswer("x", usage=TokenUsage(9, 9), profile="gone"), [], id="nor of a profile without prices"
        ),
    ],
)
def test_what_a_call_cost_is_counted_by_who_answered(reply: ModelReply, cost: list[d.Decision]) -> None:
    assert spent(ONE, talk(ONE, chat()).state().talk.turns[1], reply) == cost


def test_within_its_budget_a_turn_goes_on() -> None:
    told = talk(TWO, chat(), replies(costing(99, "", "look")), returns("tool:look", 1))
    assert nodes(told.state()) == ["model"]
    assert told.state().talk.turns[1].spent == 990_000


def test_a_call_that_may_exceed_the_budget_ends_the_turn_with_a_clear_message() -> None:
    told = talk(ONE, chat(), replies(costing(1, "", "look")), returns("tool:look", 1))
    (end,) = told.made(d.EndTurn)
    assert (end.status, end.error) == (
        "exhausted",
        TurnError(
            "budget_exhausted",
            "1 of the 1 credits for this turn are used, and the next model call may cost 1",
        ),
    )
    assert nodes(told.state()) == []
    assert nodes(told.then(chat("two")).state()) == ["model"]  # the next turn has a budget of its own


def test_the_budget_of_a_conversation_is_for_all_its_turns() -> None:
    told = talk(TALK, chat(), replies(costing(100, "1")), chat(), replies(costing(1, "2")), chat())
    (end,) = told.made(d.EndTurn)
    assert end.error is not None
    assert "for this conversation" in end.error.message
    assert [turn.status for turn in told.state().talk.turns.values()] == ["completed", "completed", "exhausted"]


def tokens(node: str, millionths: int) -> Step:
    """The task of a call reports tokens."""
    return lambda state: TaskNoted(NOW, working(state, node).id, 1, TokensNote("x", "fake", 1, 1, millionths))


KEEPING = agent("memory: {types: {fact: {}}, recall: 0}, budget: {turn: 2}", profile=PRICED)


def test_what_keeping_memories_costs_is_counted_but_not_as_part_of_a_move() -> None:
    told = talk(KEEPING, chat(), says("Hello."), tokens("extraction", 30))
    assert told.made(d.SpendBudget) == [d.SpendBudget(1, 30, upkeep=True)]
    told = told.then(returns("extraction", {}))
    assert (told.state().talk.turns[1].spent, told.state().talk.head.spent) == (30, 30)


def test_tokens_of_a_move_are_counted_with_its_answer_and_not_twice() -> None:
    assert talk(KEEPING, chat(), tokens("model", 30)).made(d.SpendBudget) == []


def test_memories_that_the_budget_has_no_room_for_are_not_kept_and_the_turn_completes() -> None:
    told = talk(KEEPING, chat(), replies(costing(150, "Hello.")))
    turn = told.state().talk.turns[1]
    assert (turn.status, list(turn.issues)) == ("completed", ["memory_extraction_failed"])
    assert "next model call may cost 1" in str(turn.issues)
    assert told.made(d.DispatchToken) == []


# more credits

SHORT = talk(ASKING, chat(), replies(costing(50, "", "look")), returns("tool:look", 1))


def gives(value: Json) -> AnswerGate:
    return AnswerGate(NOW, "m", value, "ann", node="budget")


def test_a_gate_asks_for_more_and_the_call_waits() -> None:
    state = SHORT.state()
    assert isinstance(at_node(state, "budget").phase, WaitingForGate)
    assert SHORT.made(d.DispatchToken) == []
    assert state.talk.turns[1].phase == "deciding"
    assert nodes(state) == ["budget"]
    assert state.head.busy == 0  # so that it is seen to wait


def test_with_more_the_call_is_made() -> None:
    told = SHORT.then(gives({"credits": 1}))
    assert told.made(d.AddBudget) == [d.AddBudget(1, 1)]
    assert [dispatch.node for dispatch in told.made(d.DispatchToken)] == ["model"]
    assert told.then(says("Done.")).state().talk.turns[1].status == "completed"


def test_with_none_the_turn_ends() -> None:
    (end,) = SHORT.then(gives({"credits": 0})).made(d.EndTurn)
    assert (end.status, end.error) == ("exhausted", TurnError("budget_exhausted", "nobody gave it more credits"))


@pytest.mark.parametrize("value", [{"credits": -1}, {"credits": "5"}, {}, 7])
def test_another_answer_is_refused(value: Json) -> None:
    state = SHORT.state()
    (reply,) = plan_budget_answer(ASKING, state, at_node(state, "budget"), gives(value))
    assert isinstance(reply, d.ReplyTo)
    assert not reply.accepted


def test_a_turn_that_waits_for_credits_can_be_stopped() -> None:
    assert nodes(SHORT.then(stop()).state()) == []


# an account

METERED = agent(profile=PRICED, settings={"credits": {"balance": 100}})
UNPAID = talk(METERED, chat("hi"))


def test_a_call_is_paid_for_before_it_is_made() -> None:
    assert [ask.amount for ask in UNPAID.made(d.AskForCredits)] == [1]
    told = UNPAID.then(CreditsGranted(NOW, 1))
    assert [reserve.amount for reserve in told.made(d.ReserveCredits)] == [1]
    assert [dispatch.node for dispatch in told.made(d.DispatchToken)] == ["model"]


def test_without_credits_the_turn_is_exhausted_and_the_conversation_stays() -> None:
    told = UNPAID.then(CreditsGranted(NOW, 0))
    (end,) = told.made(d.EndTurn)
    assert (end.status, end.error) == (
        "exhausted",
        TurnError("credits_exhausted", "the next call could not be paid for: 1 credit is missing"),
    )
    state = told.state()
    assert (state.head.ended, state.head.status) == (False, "waiting")
    again = told.then(chat("and now?"))
    assert [ask.amount for ask in again.made(d.AskForCredits)] == [1]
    assert again.then(CreditsGranted(NOW, 1), says("Hello.")).state().talk.turns[2].status == "completed"


def test_a_caller_without_credits_does_not_end_the_conversation() -> None:
    assert UNPAID.then(CreditsEnded(NOW)).last() == []


def test_a_call_that_was_held_is_paid_for_once() -> None:
    paid = [CreditsGranted(NOW, 5)]
    told = talk(METERED, chat(), *paid, says("", call("alone"), call("look")), *paid)
    assert len([each for each in told.state().tokens.values() if each.reserved]) == 2
    assert told.then(returns("tool:alone", 1), returns("tool:look", 2)).state().head.error is None


LEARNING = agent("memory_extraction: child, budget: {conversation: 5, agent_day: 5}", profile=PRICED)


def test_what_a_workflow_of_the_persona_costs_is_spent_and_no_other_run() -> None:
    state = talk(LEARNING, chat()).state()
    token = at_node(state, "model")
    extraction, tool = (replace(token, node=node) for node in ("extraction", "tool:count"))
    assert spent_by_run(LEARNING, state, extraction, 0, NOW) == []
    assert spent_by_run(LEARNING, state, tool, 30, NOW) == []
    assert spent_by_run(LEARNING, state, extraction, 30, NOW) == [
        d.SpendBudget(1, 30, upkeep=True),
        d.ReturnBudget(NOW, "bob", "1970-01-01", -30),
    ]
    assert spent_by_run(ONE, state, extraction, 30, NOW) == [d.SpendBudget(1, 30, upkeep=True)]
