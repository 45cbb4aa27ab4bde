"""Every token a run ever had, folded from its journal.

A run's state has only the tokens that have not ended; the journal has all of them.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal, TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from jeton.model import decision as d
from jeton.model.decision.fork import DONE_AGAIN
from jeton.model.entry import Entry
from jeton.model.failure import TaskFailed
from jeton.model.ids import GroupId, RunId, TokenId, child_run_id
from jeton.model.json import JsonObject
from jeton.model.state.flow_run import Executed
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
    "waiting_for_agent",
    "waiting_for_gate",
    "waiting_for_signal",
    "completed",
    "failed",
    "timed_out",
    "cancelled",
]
ENDED: frozenset[TokenStatus] = frozenset({"completed", "failed", "timed_out", "cancelled"})


class RetryView(msgspec.Struct, frozen=True):
    """An attempt that failed and was followed by another. `again_at`: when that one began; None while it waits."""

    attempt: int
    failed_at: datetime
    again_at: datetime | None = None


class TokenView(msgspec.Struct):
    """One token. `since`: when it got its status; `waits_at`: the node of the fan-in it waits at."""

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
    retries: tuple[RetryView, ...] = ()
    due: datetime | None = None
    label: str | None = None
    signal: str | None = None  # the name of the signal it waits for
    signals: tuple[str, ...] = ()  # those of which it waits for the first
    waits_at: str | None = None
    child: RunId | None = None  # the run it called
    abandoned: bool = False
    ended_at: datetime | None = None
    reason: str | None = None  # why something else ended it
    error: JsonObject | None = None  # how its node failed
    missing: tuple[str, ...] = ()  # paths where its mappings found no value

    @property
    def ended(self) -> bool:
        return self.status in ENDED


def token_views(entries: Iterable[Entry], run: RunId | None = None) -> list[TokenView]:
    """All tokens in the order they were created. `run` is needed for a fork, whose history does not name it."""
    table = TokenTable(run)
    for entry in entries:
        table.take(entry)
    return list(table.tokens.values())


class TokenTable:
    """The tokens of a run, updated entry by entry."""

    def __init__(self, run: RunId | None = None) -> None:
        self.tokens: dict[TokenId, TokenView] = {}
        self._run = run
        self._now = moment(0)

    def take(self, entry: Entry) -> None:
        """Apply one journal entry."""
        self._now = moment(entry.at)
        for decision in entry.decisions:
            self._fold(decision)

    def _fold(self, decision: d.Decision) -> None:
        if isinstance(decision, d.TokenDecision):
            self._token(decision)
        elif isinstance(decision, d.GroupDecision):
            self._group(decision)
        elif isinstance(decision, d.WaitsDecision):
            self._wait(decision)
        elif isinstance(decision, d.FlowDecision):
            self._flow(decision)
        elif isinstance(decision, d.CreditsDecision):
            if isinstance(decision, d.UndoCall):
                self._change(decision.token, "pending")
        elif isinstance(decision, d.RunDecision):
            if isinstance(decision, d.EndRun):
                self._end_run(decision)
        elif isinstance(decision, d.TurnDecision | d.AgentDecision | d.BudgetDecision):
            if isinstance(decision, d.CallAgent):
                self._change(decision.token, "waiting_for_agent", decision.deadline)
        else:
            self._fork(decision)

    def _token(self, decision: d.TokenDecision) -> None:
        match decision:
            case d.CreateToken():
                self._create(decision)
            case d.CreateTokens():
                for creation in decision.tokens:
                    self._create(creation)
            case d.DispatchToken():
                token = self._change(decision.token, "dispatched", decision.deadline)
                token.attempt, token.deliveries = decision.attempt, 1
                if token.retries and token.retries[-1].again_at is None:
                    token.retries = (*token.retries[:-1], replace(token.retries[-1], again_at=self._now))
                token.missing += decision.missing
            case d.RedeliverToken():
                self._change(decision.token, "dispatched", decision.deadline).deliveries = decision.deliveries
            case d.SuspendToken():
                self._change(decision.token, "waiting_for_timer", decision.due).label = decision.sleep
            case d.WakeToken():
                token = self._change(decision.token, "dispatched", decision.deadline)
                token.deliveries, token.label = 1, None
            case d.MarkExecuting():
                self._change(decision.token, "executing", decision.deadline).since = moment(decision.at)
            case d.RetryToken():
                token = self._change(decision.token, "waiting_for_retry", decision.due)
                token.attempt = decision.attempt
                token.retries += (RetryView(decision.attempt - 1, self._now),)
            case d.FinishNode():
                self.tokens[decision.token].missing += decision.missing
            case d.FailNode():
                self.tokens[decision.token].error = decision.error
            case d.RouteToken(token=routed, ends=ends):
                if ends is not None:  # otherwise it goes to a fan-in, and ParkToken follows
                    self._end(routed, ends)
            case d.EndTokens(tokens, status, reason):
                self._end_all(tokens, status, reason)
            case d.AbandonTokens(tokens):
                for number in numbers_in(tokens):
                    self.tokens[TokenId(number)].abandoned = True
            case d.NoteTask() | d.IgnoreLate():
                pass
            case _:
                assert_never(decision)

    def _group(self, decision: d.GroupDecision) -> None:
        match decision:
            case d.ParkToken():
                self._change(decision.token, "waiting_for_siblings").waits_at = decision.node
            case d.OpenFanIn():
                self._end_all(decision.tokens, "completed")
            case d.OpenGroup() | d.SettleSlot() | d.MergeBranches() | d.TimeOutFanIn() | d.CloseGroup():
                pass
            case _:
                assert_never(decision)

    def _wait(self, decision: d.WaitsDecision) -> None:
        match decision:
            case d.WaitForTimer():
                token = self._change(decision.token, "waiting_for_timer", decision.due)
                token.label, token.missing = decision.label, decision.missing
            case d.CallWorkflow():
                token = self._change(decision.token, "waiting_for_subworkflow", decision.deadline)
                token.child, token.missing = decision.child, decision.missing
            case d.OpenGate():
                token = self._change(decision.token, "waiting_for_gate", decision.deadline)
                token.label, token.missing = decision.title, decision.missing
            case d.AskInput():
                self._change(decision.token, "waiting_for_gate", decision.deadline).label = decision.title
            case d.ContinueTask(paused=paused):
                status: TokenStatus = "waiting_for_timer" if paused else "dispatched"
                token = self._change(decision.token, status, decision.at if paused else decision.deadline)
                token.deliveries, token.label = 1, None
            case d.WaitForSignal():
                token = self._change(decision.token, "waiting_for_signal", decision.deadline)
                token.label, token.signal, token.missing = decision.label, decision.name or None, decision.missing
                token.signals = decision.names
            case d.EndChild() | d.StopChild() | d.TakeAnswer() | d.KeepAnswer() | d.TimeOutGate():
                pass
            case d.KeepSignal() | d.TakeSignal():
                pass
            case _:
                assert_never(decision)

    def _flow(self, decision: d.FlowDecision) -> None:
        match decision:
            case d.HoldNode(token=token, held=held):
                self._change(token, "waiting_for_timer", held.due).label = held.label
            case d.BreakNode(token=token, node=node, failure=failure):
                self.tokens[token].error = {"node": node, "type": failure.type, "message": failure.message}
            case d.ExecuteNode(token=token, node=node, executed=Executed(handled=TaskFailed() as failure)):
                self.tokens[token].error = {"node": node, "type": failure.type, "message": failure.message}
            case d.BeginNode() | d.ExecuteNode() | d.SettleNodes() | d.ReopenNodes():
                pass
            case _:
                assert_never(decision)

    def _create(self, creation: d.CreateToken) -> None:
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

    def _end_run(self, decision: d.EndRun) -> None:
        """A run that broke an invariant ends without decisions about its tokens: they end with it."""
        if decision.broken:
            for token in self._alive():
                self._end(token.id, "cancelled", "the run broke an invariant")

    def _fork(self, decision: d.ForkDecision) -> None:
        """A fork dispatches running tasks again, and calls again the runs that had not ended."""
        for dropped in decision.dropped:
            self._end(dropped, "cancelled", DONE_AGAIN)
        for token in self._alive():
            if token.status == "executing":
                self._change(token.id, "dispatched")
            elif token.status == "waiting_for_subworkflow" and self._run is not None:
                token.child = child_run_id(self._run, token.id)

    def _alive(self) -> Iterator[TokenView]:
        return (token for token in self.tokens.values() if not token.ended)
