"""The budget of an agent for a day: what a call reserves of it, and what its account answers.

The account counts what all conversations of the agent have used or reserved on a day in UTC. A call waits until the
most that it may cost is reserved; what it did not use comes back when it is over.
"""

from jeton.model import decision as d
from jeton.model.definition.profile import TOKENS_PER_PRICE, whole_credits
from jeton.model.message import BudgetAnswered, BudgetAsked, BudgetSettled
from jeton.model.state.run import RunState
from jeton.model.state.talk import Turn
from jeton.model.times import rfc3339


def day_of(now: int) -> str:
    """The day of a time, in UTC."""
    return rfc3339(now)[:10]


def plan_day(turn: Turn, limit: int | None, cost: int, now: int) -> list[d.Decision] | None:
    """Reserve the cost of a call, or wait for the answer. None if it may go on, or the day has too few credits."""
    if limit is None or not cost:
        return None
    if turn.day is None:
        return [d.AskBudget(turn.number, now, day_of(now), cost, limit)]
    return [] if turn.day.phase == "asked" else None


def day_problem(turn: Turn, cost: int) -> str | None:
    """Why the day's credits are too few, once the account has said so."""
    day = turn.day
    if day is None or day.phase != "short":
        return None
    left = f"{whole_credits(day.used)} of the {day.limit} credits of '{turn.agent}' for {day.day} are used or reserved"
    return f"{left}, and the next model call may cost {whole_credits(cost)}"


def plan_day_answer(state: RunState, message: BudgetAnswered) -> list[d.Decision]:
    """Take the account's answer. What was reserved for a turn that is over goes back."""
    turn = state.talk.turns.get(message.turn)
    waits = turn is not None and turn.day is not None and turn.day.phase == "asked"
    if waits:
        return [d.TakeBudget(message.turn, message.granted, message.used, message.limit)]
    if not message.granted:
        return []
    return [d.ReturnBudget(message.at, message.agent, message.day, message.amount)]


def serve_day(used: int, added: int, message: BudgetAsked | BudgetSettled) -> tuple[int, int, BudgetAnswered | None]:
    """What an agent has used of a day and the credits that people added to it, after a message; and the answer to it.

    A call is granted all that it may cost, or nothing."""
    match message:
        case BudgetAsked(at, _, turn, agent, day, amount, limit):
            most = limit + added
            granted = used + amount <= most * TOKENS_PER_PRICE
            if granted:
                return used + amount, added, BudgetAnswered(at, turn, agent, day, amount, granted=True)
            return used, added, BudgetAnswered(at, turn, agent, day, amount, granted=False, used=used, limit=most)
        case BudgetSettled(refund=refund, added=more):
            return max(0, used - refund), added + more, None
