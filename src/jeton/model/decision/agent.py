"""Decisions about asking agents, and about those who ask."""

from typing import TypeAlias

from jeton.model.decision.base import DecisionBase
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Schema
from jeton.model.state.talk import Caller, Said, TurnError


class CallAgent(DecisionBase, frozen=True, tag="call_agent"):
    """Ask an agent, in a conversation of its own or in one that goes on, and wait for the end of the turn."""

    token: TokenId
    node: str
    at: int
    conversation: RunId
    agent: str
    said: Said
    new: bool = True  # the conversation begins with it
    output_schema: Schema | None = None
    deadline: int | None = None
    missing: tuple[str, ...] = ()


class StopAgent(DecisionBase, frozen=True, tag="stop_agent"):
    """Stop the turn that a token waits for."""

    token: TokenId
    conversation: RunId
    reason: str


class RefuseChat(DecisionBase, frozen=True, tag="refuse_chat"):
    """Tell the token that asked for a turn that there will be none."""

    at: int
    caller: Caller
    error: TurnError


class AddWaiters(DecisionBase, frozen=True, tag="add_waiters"):
    """Note which conversations wait for a run or a turn, and tell whom it waits for itself."""

    at: int
    waiting: tuple[tuple[RunId, TokenId], ...]
    turn: int | None = None  # None: the run
    tokens: tuple[TokenId, ...] = ()  # calls under way, whose runs and conversations are told


AgentDecision: TypeAlias = CallAgent | StopAgent | RefuseChat | AddWaiters
