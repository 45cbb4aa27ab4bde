"""The project's credit account: a small actor that answers in the transaction that asks it.

What a run asks of the account is answered in the commit that asks, and the answer is in the run's inbox from then on.
So nothing is lost or counted twice, whenever a process dies.
"""

import msgspec

from jeton.model.effect import SendMessage
from jeton.model.message import CreditsAsked, CreditsClosed
from jeton.model.state.credits import ACCOUNT
from jeton.planning.credits import serve


class AccountState(msgspec.Struct, frozen=True):
    """What is left, and what the project's settings declared when they were last deployed."""

    balance: int
    declared: int


def declare(known: AccountState | None, declared: int) -> AccountState:
    """The account after a deployment. A changed declaration adds the difference, or takes what is there of it."""
    if known is None:
        return AccountState(declared, declared)
    return AccountState(max(0, known.balance + declared - known.declared), declared)


def question(effect: SendMessage) -> CreditsAsked | CreditsClosed | None:
    """What a message asks of the account; None if it is for a run."""
    message = effect.message
    return message if effect.run == ACCOUNT and isinstance(message, CreditsAsked | CreditsClosed) else None


class Served(msgspec.Struct, frozen=True):
    """The balance after a question, what the asking run has of it, and the answer to that run, if any."""

    balance: int
    granted: int
    answer: SendMessage | None


def serve_account(balance: int | None, granted: int | None, asked: CreditsAsked | CreditsClosed) -> Served:
    """Answer a run. An account that was never opened has nothing."""
    left, has, answer = serve(balance or 0, granted or 0, asked)
    return Served(left, has, None if answer is None else SendMessage(asked.run, answer))
