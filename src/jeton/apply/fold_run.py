"""What each decision does to a run."""

from typing import assert_never

import msgspec

from jeton.apply.draft import Draft
from jeton.apply.fold_credits import (
    ask_for_credits,
    await_credits,
    close_purse,
    declare_short,
    note_cost,
    reserve_credits,
    settle_credits,
    take_credits,
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
    MarkExecuting,
    MergeBranches,
    NoteFiring,
    NoteTask,
    OpenFanIn,
    OpenGate,
    OpenGroup,
    ParkToken,
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
    TakeAnswer,
    TakeCredits,
    TakeSignal,
    TimeOutFanIn,
    TimeOutGate,
    WaitForSignal,
    WaitForTimer,
)
from jeton.model.effect import SendMessage, StartTask
from jeton.model.failure import BrokenInvariant
from jeton.model.ids import TokenId
from jeton.model.message import ChildEnded
from jeton.model.ranges import numbers_in
from jeton.model.run import (
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
    match decision:
        case FinishNode():
            _finish_node(draft, decision)
        case RouteToken():
            _route_token(draft, decision)
        case CreateToken():
            _create_token(draft, decision)
        case CreateTokens():
            for creation in decision.tokens:
                _create_token(draft, creation)
        case DispatchToken():
            _dispatch_token(draft, decision)
        case MarkExecuting():
            _mark_executing(draft, decision)
        case ParkToken():
            park_token(draft, decision)
        case SettleSlot():
            settle_slot(draft, decision)
        case OpenGroup():
            open_group(draft, decision)
        case OpenFanIn():
            open_fan_in(draft, decision)
        case MergeBranches():
            draft.write(decision.outer, decision.target, decision.value)
        case CloseGroup():
            close_group(draft, decision.group)
        case EndTokens():
            _end_tokens(draft, decision)
        case AbandonTokens():
            abandon_tokens(draft, decision)
        case TimeOutFanIn():
            time_out_fan_in(draft, decision)
        case RedeliverToken():
            _redeliver_token(draft, decision)
        case WaitForTimer():
            _wait_for_timer(draft, decision)
        case RetryToken():
            _retry_token(draft, decision)
        case FailNode():
            _fail_node(draft, decision)
        case CallWorkflow():
            call_workflow(draft, decision)
        case StopChild():
            stop_child(draft, decision)
        case OpenGate():
            open_gate(draft, decision)
        case TakeAnswer():
            take_answer(draft, decision)
        case KeepAnswer():
            keep_answer(draft, decision)
        case WaitForSignal():
            wait_for_signal(draft, decision)
        case KeepSignal():
            keep_signal(draft, decision)
        case TakeSignal():
            take_signal(draft, decision)
        case SetPaused():
            set_paused(draft, decision)
        case ForkHistory():
            fork_history(draft, decision)
        case ReserveCredits():
            reserve_credits(draft, decision)
        case SettleCredits():
            settle_credits(draft, decision)
        case AwaitCredits():
            await_credits(draft)
        case AskForCredits():
            ask_for_credits(draft, decision)
        case TakeCredits():
            take_credits(draft, decision)
        case DeclareShort():
            declare_short(draft)
        case BeginNode():
            begin_node(draft, decision)
        case HoldNode():
            hold_node(draft, decision)
        case ExecuteNode():
            execute_node(draft, decision)
        case BreakNode():
            break_node(draft, decision)
        case ReopenNodes():
            reopen_nodes(draft, decision)
        case SettleNodes():
            settle_nodes(draft, decision)
        case NoteTask():
            note_cost(draft, decision)
        case IgnoreLate() | EndChild() | TimeOutGate() | ReplyTo() | NoteFiring():
            pass  # told, and kept in the journal; what it leads to follows in decisions of its own
        case BeginRun():
            _begin_run(draft, decision)
        case SetStatus():
            draft.state.head.status = decision.status
        case EndRun():
            _end_run(draft, decision)
        case _:
            assert_never(decision)


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
    if not isinstance(token.phase, Pending | WaitingForRetry):
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
        )
    )
    draft.timers.watch_token(decision.deadline, decision.at, token.id)
    given = draft.state.input if decision.input is msgspec.UNSET else decision.input
    draft.effects.append(StartTask(token.id, token.node, decision.attempt, 1, given))


def _redeliver_token(draft: Draft, decision: RedeliverToken) -> None:
    token = draft.token(decision.token)
    phase = Dispatched(decision.at, decision.deadline, decision.deliveries)
    draft.put_token(token.entering(phase))
    draft.timers.watch_token(decision.deadline, decision.at, token.id)
    given = draft.state.input if token.input is msgspec.UNSET else token.input
    draft.effects.append(StartTask(token.id, token.node, token.attempt, decision.deliveries, given))


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
