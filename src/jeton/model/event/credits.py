"""Facts about credits."""

from typing import TypeAlias

from jeton.model.event.base import FactBase
from jeton.model.ids import RunId, TokenId


class CreditsReserved(FactBase, frozen=True, tag="credits.reserved"):
    """Credits were set aside for a node before its task was dispatched."""

    token: TokenId
    node: str
    amount: int


class CreditsSettled(FactBase, frozen=True, tag="credits.settled"):
    """The cost of a node is known: `refund` of the reservation came back, or `shortfall` was missing."""

    token: TokenId
    node: str
    cost: int
    refund: int = 0
    shortfall: int = 0


class CreditsRequested(FactBase, frozen=True, tag="credits.asked"):
    """The run asked for credits that it does not have."""

    amount: int


class CreditsReceived(FactBase, frozen=True, tag="credits.granted"):
    """The run was given credits."""

    amount: int


class CreditsShort(FactBase, frozen=True, tag="credits.short"):
    """Credits are missing: the run cannot go on until it is given more."""

    missing: int


class CreditsLent(FactBase, frozen=True, tag="credits.lent"):
    """Credits given to a run below."""

    run: RunId
    amount: int


class CreditsReturned(FactBase, frozen=True, tag="credits.returned"):
    """The use of a run below, which is over."""

    run: RunId
    used: int


CreditsFact: TypeAlias = (
    CreditsReserved | CreditsSettled | CreditsRequested | CreditsReceived | CreditsShort | CreditsLent | CreditsReturned
)
