"""Decisions about credits."""

from typing import TypeAlias

from jeton.model.decision.base import DecisionBase
from jeton.model.ids import RunId, TokenId


class ReserveCredits(DecisionBase, frozen=True, tag="reserve_credits"):
    """Take a node's price before it begins."""

    token: TokenId
    node: str
    amount: int


class SettleCredits(DecisionBase, frozen=True, tag="settle_credits"):
    """Settle a node's price with its real cost: a refund, or a shortfall that nobody paid."""

    token: TokenId
    node: str
    cost: int
    refund: int = 0
    shortfall: int = 0


class AwaitCredits(DecisionBase, frozen=True, tag="await_credits"):
    """A node cannot begin before its price is paid."""


class AskForCredits(DecisionBase, frozen=True, tag="ask_for_credits"):
    """Ask the parent run or the project account for credits that the run does not have."""

    at: int
    amount: int


class TakeCredits(DecisionBase, frozen=True, tag="take_credits"):
    """Add the credits that the account gave."""

    amount: int


class DeclareShort(DecisionBase, frozen=True, tag="declare_short"):
    """Credits are too few: nothing new begins, in this run and its children."""

    missing: int


class LendCredits(DecisionBase, frozen=True, tag="lend_credits"):
    """Give credits to a run below that asked for them."""

    run: RunId
    amount: int


class ReclaimCredits(DecisionBase, frozen=True, tag="reclaim_credits"):
    """Take back what a run below, which is over, did not use."""

    run: RunId
    used: int


class UndoCall(DecisionBase, frozen=True, tag="undo_call"):
    """Undo the call of a run that ended exhausted: it is made again once there are credits."""

    token: TokenId
    node: str


CreditsDecision: TypeAlias = (
    ReserveCredits
    | SettleCredits
    | AwaitCredits
    | AskForCredits
    | TakeCredits
    | DeclareShort
    | LendCredits
    | ReclaimCredits
    | UndoCall
)
