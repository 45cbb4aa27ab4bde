"""The project's credit account, and the budgets of agents for a day.

A run's request is answered in the commit that makes it, and the answer is in the run's inbox from then on. So nothing
is lost or counted twice, whenever a process dies.
"""

import msgspec

from jeton.model.effect import SendMessage
from jeton.model.message import BudgetAsked, BudgetSettled, CreditsAsked, CreditsClosed
from jeton.model.state.credits import ACCOUNT
from jeton.model.state.day_budget import DAYS
from jeton.planning.credits import serve
from jeton.planning.turns.day import serve_day


class AccountState(msgspec.Struct, frozen=True):
    """What is left, and the balance that the project's settings declared when they were last deployed."""

    balance: int
    declared: int


def declare(known: AccountState | None, declared: int) -> AccountState:
    """The account after a deployment. A changed declaration adds the difference, or takes it as far as it is there."""
    if known is None:
        return AccountState(declared, declared)
    return AccountState(max(0, known.balance + declared - known.declared), declared)


def account_request(effect: SendMessage) -> CreditsAsked | CreditsClosed | None:
    """The request to the account in a message; None if the message is for a run."""
    message = effect.message
    return message if effect.run == ACCOUNT and isinstance(message, CreditsAsked | CreditsClosed) else None


def day_request(effect: SendMessage) -> BudgetAsked | BudgetSettled | None:
    """The request to the account of an agent and day in a message; None if the message is for another."""
    message = effect.message
    return message if effect.run == DAYS and isinstance(message, BudgetAsked | BudgetSettled) else None


def day_account(request: BudgetAsked | BudgetSettled) -> str:
    """The name of the account of an agent and day. Its balance is what was used, and what it declares was added."""
    return f"day:{request.day}:{request.agent}"


class ServedDay(msgspec.Struct, frozen=True):
    """What was used of a day after a request, what people added to it, and the answer to the conversation, if any."""

    used: int
    added: int
    answer: SendMessage | None


def serve_day_account(used: int, added: int, request: BudgetAsked | BudgetSettled) -> ServedDay:
    """Answer a request to the account of an agent and day."""
    spent, more, answer = serve_day(used, added, request)
    run = request.run if isinstance(request, BudgetAsked) else None
    return ServedDay(spent, more, None if answer is None or run is None else SendMessage(run, answer))


class Served(msgspec.Struct, frozen=True):
    """The balance after a request, what the run has been granted, and the answer to the run, if any."""

    balance: int
    granted: int
    answer: SendMessage | None


def serve_account(balance: int | None, granted: int | None, request: CreditsAsked | CreditsClosed) -> Served:
    """Answer a request. An account that was never opened has nothing."""
    left, has, answer = serve(balance or 0, granted or 0, request)
    return Served(left, has, None if answer is None else SendMessage(request.run, answer))
