"""Facts about credits."""

from typing import TypeAlias

from jeton.model.event.base import FactBase
from jeton.model.ids import RunId, TokenId


class CreditsReserved(FactBase, frozen=True, tag="credits.reserved"):
    token: TokenId
    node: str
    amount: int


class CreditsSettled(FactBase, frozen=True, tag="credits.settled"):
    token: TokenId
    node: str
    cost: int
    refund: int = 0
    shortfall: int = 0


class CreditsRequested(FactBase, frozen=True, tag="credits.asked"):
    amount: int


class CreditsReceived(FactBase, frozen=True, tag="credits.granted"):
    amount: int


class CreditsShort(FactBase, frozen=True, tag="credits.short"):
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
