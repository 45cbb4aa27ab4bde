"""Decisions about the budget that an agent has for a day."""

from typing import TypeAlias

from jeton.model.decision.base import DecisionBase


class AskBudget(DecisionBase, frozen=True, tag="ask_budget"):
    """Ask the account of an agent and day for the most that a call may cost. The call waits for the answer."""

    turn: int
    at: int
    day: str
    millionths: int
    limit: int  # credits of a day, as the persona says


class TakeBudget(DecisionBase, frozen=True, tag="take_budget"):
    """Take the account's answer: it is reserved, or too little is left of the day's credits."""

    turn: int
    granted: bool
    used: int = 0  # if too little is left: millionths of a credit
    limit: int = 0


class SettleBudget(DecisionBase, frozen=True, tag="settle_budget"):
    """The call is over: give back what was reserved and not used."""

    turn: int
    at: int


class ReturnBudget(DecisionBase, frozen=True, tag="return_budget"):
    """Give back what was reserved for a turn that needs it no longer."""

    at: int
    agent: str
    day: str
    millionths: int


BudgetDecision: TypeAlias = AskBudget | TakeBudget | SettleBudget | ReturnBudget
