"""The budget of an agent for a day: reserved before each call, settled after it, and shared by all conversations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.model import decision as d
from jeton.model import message as m
from jeton.model.definition.profile import TOKENS_PER_PRICE
from jeton.model.effect import SendMessage
from jeton.model.state.day_budget import DAYS
from jeton.model.state.talk import TurnError
from jeton.planning.turns.day import day_of, plan_day, plan_day_answer, serve_day
from tests.planning.given import RUN
from tests.planning.talking import Talk, agent, call, chat, nodes, replies, returns, says, stop, talk
from tests.planning.turns.test_budget import PRICED, costing, gives

NOW, MILLION = 5, TOKENS_PER_PRICE
DAY = "1970-01-01"
DAILY = agent("budget: {agent_day: 3}", profile=PRICED)
ASKING = agent("budget: {agent_day: 3, on_empty: ask}", profile=PRICED)
ASKED = m.BudgetAsked(NOW, RUN, 1, "bob", DAY, MILLION, 3)
YES = m.BudgetAnswered(NOW, 1, "bob", DAY, MILLION, granted=True)
NO = m.BudgetAnswered(NOW, 1, "bob", DAY, MILLION, granted=False, used=2 * MILLION + 1, limit=3)


def told_account(told: Talk) -> list[m.Message]:
    """What the last step told the account."""
    return [each.message for each in told.commit().effects if isinstance(each, SendMessage) and each.run == DAYS]


def test_a_day_begins_at_midnight_in_utc() -> None:
    assert [day_of(ms) for ms in (0, 86_399_999, 86_400_000)] == ["1970-01-01", "1970-01-01", "1970-01-02"]


def test_before_a_call_the_most_that_it_may_cost_is_reserved() -> None:
    told = talk(DAILY, chat())
    assert told_account(told) == [ASKED]
    assert told.made(d.DispatchToken) == []
    assert nodes(told.state()) == ["model"]
    told = told.then(YES)
    assert [each.node for each in told.made(d.DispatchToken)] == ["model"]
    assert told_account(told) == []


def test_it_is_asked_for_once_whatever_else_happens() -> None:
    told = talk(DAILY, chat(), chat("two"), m.ContinueRun(NOW))
    assert told_account(told) == []
    assert told.made(d.DispatchToken) == []


def test_after_the_call_what_was_not_used_goes_back_and_the_next_call_asks_again() -> None:
    told = talk(DAILY, chat(), YES, replies(costing(30, "", "look")))
    assert told_account(told) == [m.BudgetSettled(NOW, "bob", DAY, 700_000)]
    assert told_account(told.then(returns("tool:look", 1))) == [ASKED]


def test_what_was_used_beyond_is_counted_too() -> None:
    told = talk(DAILY, chat(), YES, replies(costing(130, "Hello.")))
    assert told_account(told) == [m.BudgetSettled(NOW, "bob", DAY, -300_000)]


def test_with_too_little_left_the_turn_ends_with_a_clear_message() -> None:
    (end,) = talk(DAILY, chat(), NO).made(d.EndTurn)
    used = "3 of the 3 credits of 'bob' for 1970-01-01 are used or reserved, and the next model call may cost 1"
    assert (end.status, end.error) == ("exhausted", TurnError("budget_exhausted", used))
    assert told_account(talk(DAILY, chat(), NO)) == []


def test_a_person_may_add_to_the_day() -> None:
    short = talk(ASKING, chat(), NO)
    assert "budget" in nodes(short.state())
    more = short.then(gives({"credits": 2}))
    assert told_account(more) == [m.BudgetSettled(NOW, "bob", DAY, added=2), ASKED]
    assert more.then(YES, says("Done.")).state().talk.turns[1].status == "completed"


@pytest.mark.parametrize("granted", [True, False])
def test_a_turn_that_is_stopped_keeps_nothing(granted: bool) -> None:
    back = m.BudgetSettled(NOW, "bob", DAY, MILLION)
    waiting = talk(DAILY, chat(), stop())
    assert told_account(waiting) == []
    late = waiting.then(YES if granted else NO)
    assert told_account(late) == ([back] if granted else [])
    assert told_account(talk(DAILY, chat(), YES, stop())) == [back]


def test_a_conversation_that_is_closed_keeps_nothing() -> None:
    closed = talk(DAILY, chat(), m.CancelRun(NOW))
    assert told_account(closed.then(YES)) == [m.BudgetSettled(NOW, "bob", DAY, MILLION)]
    assert told_account(closed.then(NO)) == []


def test_tools_need_none_of_it() -> None:
    told = talk(DAILY, chat(), YES, says("", call("look")))
    assert [each.node for each in told.made(d.DispatchToken)] == ["tool:look"]


def test_nobody_waits_without_a_limit_or_a_price() -> None:
    turn = talk(DAILY, chat()).state().talk.turns[1]
    assert plan_day(turn, None, MILLION, NOW) is None
    assert plan_day(turn, 3, 0, NOW) is None
    assert plan_day(turn, 3, MILLION, NOW) == []
    assert plan_day_answer(talk(DAILY).state(), NO) == []


@pytest.mark.parametrize(
    ("used", "added", "message", "then"),
    [
        pytest.param(2 * MILLION, 0, ASKED, (3 * MILLION, 0, YES), id="there is just enough"),
        pytest.param(2 * MILLION + 1, 0, ASKED, (2 * MILLION + 1, 0, NO), id="too little: nothing is reserved"),
        pytest.param(3 * MILLION, 1, ASKED, (4 * MILLION, 1, YES), id="a person added"),
        pytest.param(MILLION, 1, m.BudgetSettled(5, "bob", DAY, 300_000, 2), (700_000, 3, None), id="some comes back"),
        pytest.param(MILLION, 0, m.BudgetSettled(5, "bob", DAY, -5), (MILLION + 5, 0, None), id="more was used"),
    ],
)
def test_the_account_of_a_day(
    used: int,
    added: int,
    message: m.BudgetAsked | m.BudgetSettled,
    then: tuple[int, int, m.BudgetAnswered | None],
) -> None:
    assert serve_day(used, added, message) == then


@given(st.lists(st.tuples(st.integers(1, 3 * MILLION), st.integers(0, 100)), max_size=30))
def test_all_that_is_granted_together_never_exceeds_the_day(calls: list[tuple[int, int]]) -> None:
    """Each call uses some per cent of what it reserves, and is settled before every second one that follows."""
    used, open_calls = 0, list[tuple[int, int]]()
    for amount, percent in calls:
        used, _, answer = serve_day(used, 0, m.BudgetAsked(NOW, RUN, 1, "bob", DAY, amount, 3))
        assert answer is not None
        if answer.granted:
            open_calls.append((amount, percent))
        assert used <= 3 * MILLION
        if len(open_calls) > 1:
            reserved, share = open_calls.pop(0)
            used, _, _ = serve_day(used, 0, m.BudgetSettled(NOW, "bob", DAY, reserved - reserved * share // 100))
    assert used >= sum(amount for amount, _ in open_calls)
