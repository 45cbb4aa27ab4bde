"""What each decision does to a run."""

from collections.abc import Callable
from typing import Any

import msgspec

from jeton.apply.draft import Draft
from jeton.apply.fold_credits import (
    ask_for_credits,
    await_credits,
    close_purse,
    declare_short,
    lend_credits,
    note_cost,
    reclaim_credits,
    reserve_credits,
    settle_credits,
    take_credits,
    undo_call,
)
from jeton.apply.fold_flow import begin_node, break_node, execute_node, hold_node, reopen_nodes, settle_nodes
from jeton.apply.fold_fork import fork_history
from jeton.apply.fold_group import (
    abandon_tokens,
    close_group,
    open_fan_in,
    open_group,
    park_token,
    settle_slot,
    time_out_fan_in,
)
from jeton.apply.fold_waits import (
    call_workflow,
    forget_waits,
    keep_answer,
    keep_signal,
    open_gate,
    set_paused,
    stop_child,
    take_answer,
    take_signal,
    wait_for_signal,
)
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
from jeton.model.effect import SendMessage, StartTask
from jeton.model.failure import BrokenInvariant
from jeton.model.ids import TokenId
from jeton.model.message import ChildEnded
from jeton.model.state.ranges import numbers_in
from jeton.model.state.run import (
    Dispatched,
    Executing,
    Pending,
    Slot,
    Token,
    WaitingForRetry,
    WaitingForTimer,
)

_PENDING = Pending()
_EMPTY_SLOT = Slot()


def fold(draft: Draft, decision: Decision) -> None:
    """Make one decision true. Raises BrokenInvariant if the state contradicts it."""
    if draft.state.head.ended_at is not None:
        raise BrokenInvariant("a decision after the run's end", decision=type(decision).__name__)
    FOLDS[type(decision)](draft, decision)


def _begin_run(draft: Draft, decision: BeginRun) -> None:
    head = draft.state.head
    if head.status != "submitted":
        raise BrokenInvariant("a run begins once", status=head.status)
    draft.state.take_input(decision.input)
    draft.touched.input = True
    head.status = "running"
    head.submitted_at = head.started_at = decision.at
    head.deadline = decision.deadline
    head.parent, head.trigger, head.purse = decision.parent, decision.trigger, decision.purse
    if decision.overrides:
        draft.state.flow.overrides = decision.overrides
        draft.touched.overrides = True
    if decision.deadline is not None:
        draft.timers.watch_run(decision.deadline, decision.at)


def _end_run(draft: Draft, decision: EndRun) -> None:
    head = draft.state.head
    if decision.broken:
        draft.drop_everything()
    elif head.alive or draft.state.tokens:
        raise BrokenInvariant("the run ends while tokens are under way", alive=head.alive)
    head.status, head.ended_at = decision.status, decision.at
    head.error, head.result = decision.error, decision.output
    for group in list(draft.state.groups):
        if group in draft.state.groups:
            draft.drop_group(group)
    forget_waits(draft)
    close_purse(draft, decision.at)
    draft.urgent.clear()
    draft.ready.clear()
    if head.parent is not None and not decision.untold:
        output = None if decision.output is msgspec.UNSET else decision.output
        told = ChildEnded(decision.at, head.parent.token, head.run, decision.status, output, decision.error)
        draft.effects.append(SendMessage(head.parent.run, told))


def _create_token(draft: Draft, decision: CreateToken) -> None:
    head = draft.state.head
    if decision.token != head.next_token:
        raise BrokenInvariant("tokens are numbered in order", token=decision.token, next=head.next_token)
    head.next_token += 1
    head.alive += 1
    slot = decision.slot
    if slot is not None and slot not in draft.state.slots:
        _, progress = draft.group(slot[0])
        group = draft.state.groups[slot[0]]
        segment = group.segment_of(slot[1])
        if slot[1] != group.segments[segment].first + progress.started[segment]:
            raise BrokenInvariant("slots start in order, and once", slot=list(slot))
        draft.put(draft.state.slots, slot, _EMPTY_SLOT)
        draft.put_progress(
            group.id,
            msgspec.structs.replace(
                progress,
                started=_bumped(progress.started, segment, 1),
                flying=_bumped(progress.flying, segment, 1),
            ),
        )
    draft.put_token(Token(decision.token, decision.node, decision.path, _PENDING, slot, decision.loops, decision.error))


def _bumped(counts: tuple[int, ...], at: int, by: int) -> tuple[int, ...]:
    if len(counts) == 1:
        return (counts[0] + by,)
    return (*counts[:at], counts[at] + by, *counts[at + 1 :])


def _dispatch_token(draft: Draft, decision: DispatchToken) -> None:
    token = draft.token(decision.token)
    if type(token.phase) is not Pending and type(token.phase) is not WaitingForRetry:
        raise BrokenInvariant("only a token that waits to begin is dispatched", token=token.id)
    if type(token.phase) is Pending:
        draft.state.head.executions += 1
    phase = Dispatched(decision.at, decision.deadline)
    draft.put_token(
        Token(
            token.id,
            token.node,
            token.path,
            phase,
            token.slot,
            token.loops,
            token.error,
            decision.attempt,
            decision.input,
            token.abandoned,
            token.reserved,
            token.cost,
            token.slept,
            token.woken,
        )
    )
    draft.timers.watch_token(decision.deadline, decision.at, token.id)
    given = draft.state.input if decision.input is msgspec.UNSET else decision.input
    draft.effects.append(StartTask(token.id, token.node, decision.attempt, 1, given, decision.at))


def _redeliver_token(draft: Draft, decision: RedeliverToken) -> None:
    token = draft.token(decision.token)
    _hand_out(draft, token, Dispatched(decision.at, decision.deadline, decision.deliveries))


def _suspend_token(draft: Draft, decision: SuspendToken) -> None:
    token = draft.token(decision.token)
    if not isinstance(token.phase, Dispatched | Executing):
        raise BrokenInvariant("only a task that a worker has goes to sleep", token=token.id)
    phase = WaitingForTimer(decision.at, decision.due, decision.sleep, asleep=True)
    draft.put_token(msgspec.structs.replace(token, phase=phase, slept=decision.sleep))
    draft.timers.watch_token(decision.due, decision.at, token.id)


def _wake_token(draft: Draft, decision: WakeToken) -> None:
    token = draft.token(decision.token)
    if not (isinstance(token.phase, WaitingForTimer) and token.phase.asleep):
        raise BrokenInvariant("only a task that sleeps is woken", token=token.id)
    woken = msgspec.structs.replace(token, woken=decision.at)
    _hand_out(draft, woken, Dispatched(decision.at, decision.deadline))


def _hand_out(draft: Draft, token: Token, phase: Dispatched) -> None:
    """To a worker, once more: the same attempt with the same input."""
    draft.put_token(token.entering(phase))
    draft.timers.watch_token(phase.deadline, phase.since, token.id)
    given = draft.state.input if token.input is msgspec.UNSET else token.input
    draft.effects.append(StartTask(token.id, token.node, token.attempt, phase.deliveries, given, phase.since))


def _mark_executing(draft: Draft, decision: MarkExecuting) -> None:
    token = draft.token(decision.token)
    if not isinstance(token.phase, Dispatched):
        raise BrokenInvariant("only a dispatched token begins executing", token=token.id)
    phase = Executing(decision.at, decision.deadline, token.phase.deliveries)
    draft.put_token(token.entering(phase))
    draft.timers.watch_token(decision.deadline, decision.at, token.id)


def _wait_for_timer(draft: Draft, decision: WaitForTimer) -> None:
    token = draft.token(decision.token)
    draft.state.head.executions += 1
    phase = WaitingForTimer(decision.at, decision.due, decision.label)
    draft.put_token(token.entering(phase))
    draft.timers.watch_token(decision.due, decision.at, token.id)


def _retry_token(draft: Draft, decision: RetryToken) -> None:
    token = draft.token(decision.token)
    phase = WaitingForRetry(decision.at, decision.due)
    draft.put_token(msgspec.structs.replace(token, phase=phase, attempt=decision.attempt))
    draft.timers.watch_token(decision.due, decision.at, token.id)


def _finish_node(draft: Draft, decision: FinishNode) -> None:
    token = draft.token(decision.token)
    draft.finished = token.id
    if type(token.phase) is Pending:  # nobody was asked: the node has no target
        draft.state.head.executions += 1
    for path, value in decision.writes.items():
        draft.write(token.slot, path, value)
    if token.error is not None:  # a success on the path clears it, after the mapping and before routing
        draft.put_token(msgspec.structs.replace(token, error=None))


def _fail_node(draft: Draft, decision: FailNode) -> None:
    token = draft.token(decision.token)
    draft.stop_task(token)
    if type(token.phase) is Pending and draft.finished != token.id:  # one that finished was counted then
        draft.state.head.executions += 1


def _route_token(draft: Draft, decision: RouteToken) -> None:
    token = draft.token(decision.token)
    if decision.ends is not None:
        draft.drop_token(token)
        draft.state.head.alive -= 1


def _end_tokens(draft: Draft, decision: EndTokens) -> None:
    for number in numbers_in(decision.tokens):
        token = draft.state.tokens.get(TokenId(number))
        if token is not None:  # one that waits at a fan-in is kept there, as a number
            draft.stop_task(token)
            draft.drop_token(token)
        draft.state.head.alive -= 1


def _create_tokens(draft: Draft, decision: CreateTokens) -> None:
    for creation in decision.tokens:
        _create_token(draft, creation)


def _merge_branches(draft: Draft, decision: MergeBranches) -> None:
    draft.write(decision.outer, decision.target, decision.value)


def _set_status(draft: Draft, decision: SetStatus) -> None:
    draft.state.head.status = decision.status


def _only_told(_draft: Draft, _decision: Decision) -> None:
    """It is kept in the journal; what it leads to follows in decisions of its own."""


FOLDS: dict[type[Decision], Callable[[Draft, Any], None]] = {
    FinishNode: _finish_node,
    RouteToken: _route_token,
    CreateToken: _create_token,
    CreateTokens: _create_tokens,
    DispatchToken: _dispatch_token,
    MarkExecuting: _mark_executing,
    ParkToken: park_token,
    SettleSlot: settle_slot,
    OpenGroup: open_group,
    OpenFanIn: open_fan_in,
    MergeBranches: _merge_branches,
    CloseGroup: close_group,
    EndTokens: _end_tokens,
    AbandonTokens: abandon_tokens,
    TimeOutFanIn: time_out_fan_in,
    RedeliverToken: _redeliver_token,
    SuspendToken: _suspend_token,
    WakeToken: _wake_token,
    WaitForTimer: _wait_for_timer,
    RetryToken: _retry_token,
    FailNode: _fail_node,
    CallWorkflow: call_workflow,
    StopChild: stop_child,
    OpenGate: open_gate,
    TakeAnswer: take_answer,
    KeepAnswer: keep_answer,
    WaitForSignal: wait_for_signal,
    KeepSignal: keep_signal,
    TakeSignal: take_signal,
    SetPaused: set_paused,
    ForkHistory: fork_history,
    ReserveCredits: reserve_credits,
    SettleCredits: settle_credits,
    AwaitCredits: await_credits,
    AskForCredits: ask_for_credits,
    TakeCredits: take_credits,
    DeclareShort: declare_short,
    LendCredits: lend_credits,
    ReclaimCredits: reclaim_credits,
    UndoCall: undo_call,
    BeginNode: begin_node,
    HoldNode: hold_node,
    ExecuteNode: execute_node,
    BreakNode: break_node,
    ReopenNodes: reopen_nodes,
    SettleNodes: settle_nodes,
    NoteTask: note_cost,
    IgnoreLate: _only_told,
    EndChild: _only_told,
    TimeOutGate: _only_told,
    ReplyTo: _only_told,
    NoteFiring: _only_told,
    BeginRun: _begin_run,
    SetStatus: _set_status,
    EndRun: _end_run,
}
"""By kind: asking one after the other would cost more than most folds do. A test sees that none is left out."""
