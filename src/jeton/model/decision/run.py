"""Decisions about the run as a whole."""

from typing import Literal, TypeAlias

import msgspec

from jeton.model.codes import StoredRefusalCode
from jeton.model.decision.base import DecisionBase
from jeton.model.failure import RunError
from jeton.model.ids import RunId, TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.state.credits import Purse
from jeton.model.state.run import FiredBy, Parent, RunStatus


class BeginRun(DecisionBase, frozen=True, tag="begin_run"):
    """The first decision of a run: its input, the state it begins with, and who started it."""

    at: int
    input: Json
    deadline: int | None = None
    parent: Parent | None = None
    trigger: FiredBy | None = None
    overrides: dict[str, JsonObject] = {}
    purse: Purse | None = None
    state: JsonObject = {}  # the defaults of the workflow's state, by top-level key in order of names
    key: str | None = None


class SetStatus(DecisionBase, frozen=True, tag="set_status"):
    """Change between `running` and `waiting`."""

    status: Literal["running", "waiting"]


class SetPaused(DecisionBase, frozen=True, tag="set_paused"):
    """Hold new dispatches, or allow them again."""

    paused: bool


class NoteFiring(DecisionBase, frozen=True, tag="note_firing"):
    """Record what a trigger did with an event that the run published."""

    trigger: str
    depth: int
    run: RunId | None = None
    code: StoredRefusalCode | None = None
    problem: str | None = None


class ReplyTo(DecisionBase, frozen=True, tag="reply_to"):
    """The reply to the message `id`."""

    id: str
    accepted: bool
    why: str = ""
    code: StoredRefusalCode | None = (
        None  # of a refusal; None in older entries, and where the kind of message implies it
    )
    remedy: str = ""
    turn: int | None = None  # of a conversation: the turn that a chat message belongs to


class EndRun(DecisionBase, frozen=True, tag="end_run"):
    """End the run, for good, with its output or its error."""

    at: int
    status: RunStatus
    output: Json | msgspec.UnsetType = msgspec.UNSET
    error: RunError | None = None
    missing: tuple[str, ...] = ()
    broken: bool = False  # the state contradicted a decision: everything is dropped, and `error` has the evidence
    untold: bool = False  # the parent stopped the run and waits for no answer
    ended_by: TokenId | None = None  # the token at a node that ends the run as completed


RunDecision: TypeAlias = BeginRun | SetStatus | SetPaused | NoteFiring | ReplyTo | EndRun
