"""Every token a run ever had, read off its journal.

A run's state holds only what is under way; the journal has the rest. So this is a fold over decisions and needs
nothing else: no state, no program, no store.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal, TypeAlias, assert_never

import msgspec

from jeton.model.decision import (
    AbandonTokens,
    AskForCredits,
    AwaitCredits,
    BeginNode,
    BeginRun,
    BreakNode,
    CallWorkflow,
    CloseGroup,
    CreateToken,
    CreateTokens,
    Decision,
    DeclareShort,
    DispatchToken,
    EndChild,
    EndRun,
    EndTokens,
    ExecuteNode,
    FailNode,
    FinishNode,
    ForkHistory,
    HoldNode,
    IgnoreLate,
    KeepAnswer,
    KeepSignal,
    LendCredits,
    MarkExecuting,
    MergeBranches,
    NoteFiring,
    NoteTask,
    OpenFanIn,
    OpenGate,
    OpenGroup,
    ParkToken,
    ReclaimCredits,
    RedeliverToken,
    ReopenNodes,
    ReplyTo,
    ReserveCredits,
    RetryToken,
    RouteToken,
    SetPaused,
    SetStatus,
    SettleCredits,
    SettleNodes,
    SettleSlot,
    StopChild,
    SuspendToken,
    TakeAnswer,
    TakeCredits,
    TakeSignal,
    TimeOutFanIn,
    TimeOutGate,
    UndoCall,
    WaitForSignal,
    WaitForTimer,
    WakeToken,
)
from jeton.model.entry import Entry
from jeton.model.ids import GroupId, RunId, TokenId, child_run_id
from jeton.model.json import JsonObject
from jeton.model.state.ranges import Ranges, numbers_in
from jeton.model.state.run import TokenEnd
from jeton.model.times import maybe_moment, moment

TokenStatus: TypeAlias = Literal[
    "pending",
    "dispatched",
    "executing",
    "waiting_for_siblings",
    "waiting_for_timer",
    "waiting_for_retry",
    "waiting_for_subworkflow",
    "waiting_for_gate",
    "waiting_for_signal",
    "completed",
    "failed",
    "timed_out",
    "cancelled",
]
ENDED: frozenset[TokenStatus] = frozenset({"completed", "failed", "timed_out", "cancelled"})


class TokenView(msgspec.Struct):
    """One token's life so far. `since`: when its status became what it is; `waits_at`: the fan-in it reached."""

    id: TokenId
    node: str
    status: TokenStatus
    path: str
    created_at: datetime
    since: datetime
    parent: TokenId | None = None
    group: GroupId | None = None
    branch_index: int | None = None
    loops: dict[int, int] = {}
    attempt: int = 1
    deliveries: int = 0
    due: datetime | None = None
    label: str | None = None
    waits_at: str | None = None
    child: RunId | None = None  # the run it called
    abandoned: bool = False
    ended_at: datetime | None = None
    reason: str | None = None  # why it ended without its own doing
    error: JsonObject | None = None  # how its node failed
    missing: tuple[str, ...] = ()  # the paths its mappings found nothing at

    @property
    def ended(self) -> bool:
        return self.status in ENDED


def token_views(entries: Iterable[Entry], run: RunId | None = None) -> list[TokenView]:
    """All tokens in the order they were made. `run` names whose they are, which a fork's history cannot know."""
    table = TokenTable(run)
    for entry in entries:
        table.take(entry)
    return list(table.tokens.values())


class TokenTable:
    """The fold, one entry at a time: a live view takes each entry as it is committed."""

    def __init__(self, run: RunId | None = None) -> None:
        self.tokens: dict[TokenId, TokenView] = {}
        self._run = run
        self._now = moment(0)

    def take(self, entry: Entry) -> None:
        """Fold one more entry."""
        self._now = moment(entry.at)
        for decision in entry.decisions:
            self._fold(decision)

    def _fold(self, decision: Decision) -> None:
        match decision:
            case CreateToken():
                self._create(decision)
            case CreateTokens():
                for creation in decision.tokens:
                    self._create(creation)
            case DispatchToken():
                token = self._change(decision.token, "dispatched", decision.deadline)
                token.attempt, token.deliveries = decision.attempt, 1
                token.missing += decision.missing
            case RedeliverToken():
                self._change(decision.token, "dispatched", decision.deadline).deliveries = decision.deliveries
            case SuspendToken():
                self._change(decision.token, "waiting_for_timer", decision.due).label = decision.sleep
            case WakeToken():
                token = self._change(decision.token, "dispatched", decision.deadline)
                token.deliveries, token.label = 1, None
            case MarkExecuting():
                self._change(decision.token, "executing", decision.deadline).since = moment(decision.at)
            case WaitForTimer():
                token = self._change(decision.token, "waiting_for_timer", decision.due)
                token.label, token.missing = decision.label, decision.missing
            case CallWorkflow():
                token = self._change(decision.token, "waiting_for_subworkflow", decision.deadline)
                token.child, token.missing = decision.child, decision.missing
            case OpenGate():
                token = self._change(decision.token, "waiting_for_gate", decision.deadline)
                token.label, token.missing = decision.title, decision.missing
            case WaitForSignal():
                token = self._change(decision.token, "waiting_for_signal", decision.deadline)
                token.label, token.missing = decision.label or decision.name, decision.missing
            case ForkHistory():
                self._fork()
            case HoldNode(token=held_token, held=held):
                self._change(held_token, "waiting_for_timer", held.due).label = held.label
            case BreakNode(token=broken, node=node, failure=failure):
                self.tokens[broken].error = {"node": node, "type": failure.type, "message": failure.message}
            case BeginNode() | ExecuteNode() | SettleNodes() | ReopenNodes():
                pass
            case RetryToken():
                self._change(decision.token, "waiting_for_retry", decision.due).attempt = decision.attempt
            case ParkToken():
                self._change(decision.token, "waiting_for_siblings").waits_at = decision.node
            case FinishNode(missing=missing):
                self.tokens[decision.token].missing += missing
            case FailNode(error=error):
                self.tokens[decision.token].error = error
            case RouteToken(token=routed, ends=ends):
                if ends is not None:  # else it reached a fan-in, and parks there
                    self._end(routed, ends)
            case OpenFanIn(tokens=tokens):
                self._end_all(tokens, "completed")
            case EndTokens(tokens, status, reason):
                self._end_all(tokens, status, reason)
            case AbandonTokens(tokens):
                for number in numbers_in(tokens):
                    self.tokens[TokenId(number)].abandoned = True
            case EndRun():
                self._end_run(decision)
            case BeginRun() | OpenGroup() | SettleSlot() | MergeBranches() | TimeOutFanIn():
                pass
            case CloseGroup() | IgnoreLate() | NoteTask() | SetStatus() | SetPaused() | EndChild() | StopChild():
                pass
            case ReserveCredits() | SettleCredits() | AwaitCredits() | AskForCredits() | TakeCredits() | DeclareShort():
                pass
            case LendCredits() | ReclaimCredits():
                pass
            case UndoCall(token=undone):
                self._change(undone, "pending")
            case TakeAnswer() | KeepAnswer() | TimeOutGate() | KeepSignal() | TakeSignal() | ReplyTo():
                pass
            case NoteFiring():
                pass
            case _:
                assert_never(decision)

    def _create(self, creation: CreateToken) -> None:
        group, index = creation.slot if creation.slot is not None else (None, None)
        self.tokens[creation.token] = TokenView(
            id=creation.token,
            node=creation.node,
            status="pending",
            path=creation.path,
            created_at=self._now,
            since=self._now,
            parent=creation.parent,
            group=group,
            branch_index=index,
            loops=creation.loops,
        )

    def _change(self, token_id: TokenId, status: TokenStatus, due: int | None = None) -> TokenView:
        token = self.tokens[token_id]
        token.status, token.since, token.due = status, self._now, maybe_moment(due)
        return token

    def _end(self, token_id: TokenId, status: TokenEnd, reason: str | None = None) -> None:
        token = self._change(token_id, status)
        token.ended_at, token.reason = self._now, reason

    def _end_all(self, tokens: Ranges, status: TokenEnd, reason: str | None = None) -> None:
        for number in numbers_in(tokens):
            self._end(TokenId(number), status, reason)

    def _end_run(self, decision: EndRun) -> None:
        """A run that contradicted itself is dropped whole, without a word about its tokens: they stop here."""
        if decision.broken:
            for token in self._alive():
                self._end(token.id, "cancelled", "the run broke an invariant")

    def _fork(self) -> None:
        """What was with a worker of the other run is given out anew, and the runs it called are called anew."""
        for token in self._alive():
            if token.status == "executing":
                self._change(token.id, "dispatched")
            elif token.status == "waiting_for_subworkflow" and self._run is not None:
                token.child = child_run_id(self._run, token.id)

    def _alive(self) -> Iterator[TokenView]:
        return (token for token in self.tokens.values() if not token.ended)
