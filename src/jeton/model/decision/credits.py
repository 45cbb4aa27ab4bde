"""Decisions about credits."""

from typing import TypeAlias

from jeton.model.decision.base import DecisionBase
from jeton.model.ids import RunId, TokenId


class ReserveCredits(DecisionBase, frozen=True, tag="reserve_credits"):
    """Take what a node costs, before it begins."""

    token: TokenId
    node: str
    amount: int


class SettleCredits(DecisionBase, frozen=True, tag="settle_credits"):
    """What a node really cost: the rest is put back, and what is beyond its price nobody paid."""

    token: TokenId
    node: str
    cost: int
    refund: int = 0
    shortfall: int = 0


class AwaitCredits(DecisionBase, frozen=True, tag="await_credits"):
    """Some node cannot begin before it is paid for."""


class AskForCredits(DecisionBase, frozen=True, tag="ask_for_credits"):
    at: int
    amount: int


class TakeCredits(DecisionBase, frozen=True, tag="take_credits"):
    """What the account gave."""

    amount: int


class DeclareShort(DecisionBase, frozen=True, tag="declare_short"):
    """There is too little: nothing new begins any more, in the runs it called neither."""

    missing: int


class LendCredits(DecisionBase, frozen=True, tag="lend_credits"):
    """What a run below is given of what it asked for."""

    run: RunId
    amount: int


class ReclaimCredits(DecisionBase, frozen=True, tag="reclaim_credits"):
    """A run below is over: what it was given and did not use is back."""

    run: RunId
    used: int


class UndoCall(DecisionBase, frozen=True, tag="undo_call"):
    """The run that a node called is exhausted: the call is still to be made, once there is more."""

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
