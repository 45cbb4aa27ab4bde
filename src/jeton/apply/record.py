"""The facts a decision makes true. Read from the journal when somebody asks; the hot path only counts them."""

from collections.abc import Iterable, Iterator
from typing import assert_never

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
from jeton.model.event import (
    BranchesMerged,
    ChildCancelled,
    ChildCompleted,
    ChildFailed,
    ChildStarted,
    ContextUpdated,
    CreditsLent,
    CreditsReceived,
    CreditsRequested,
    CreditsReserved,
    CreditsReturned,
    CreditsSettled,
    CreditsShort,
    Event,
    Fact,
    FanInOpened,
    FanOutStarted,
    GateAnswered,
    GateOpened,
    GateTimedOut,
    LateIgnored,
    NodeCompleted,
    NodeFailed,
    NodeSkipped,
    NodeStarted,
    RunCancelled,
    RunCompleted,
    RunExhausted,
    RunFailed,
    RunForked,
    RunPaused,
    RunResumed,
    RunStarted,
    RunSubmitted,
    RunTimedOut,
    RunUnpaused,
    RunWaiting,
    SignalReceived,
    SyncTimedOut,
    TaskCompleted,
    TaskCost,
    TaskDispatched,
    TaskFailedAt,
    TaskLog,
    TaskMissing,
    TaskProgress,
    TaskRetrying,
    TaskTokens,
    TimerFired,
    TimerSet,
    TokenCancelled,
    TokenCompleted,
    TokenCreated,
    TokenDispatched,
    TokenExecuting,
    TokenFailed,
    TokenTimedOut,
    TokenWaiting,
    TriggerFired,
    TriggerRefused,
)
from jeton.model.failure import BrokenInvariant
from jeton.model.ids import RunId, TokenId
from jeton.model.note import CostNote, LogNote, MissingNote, ProgressNote, TokensNote
from jeton.model.state.ranges import count_in, numbers_in
from jeton.model.state.run import TokenEnd


def events_of(run: RunId, entry: Entry) -> list[Event]:
    """An entry's events, numbered from where its sequence begins."""
    facts = [fact for decision in entry.decisions for fact in facts_of(decision)]
    return [Event(entry.first_event + i, entry.at, run, fact) for i, fact in enumerate(facts)]


def facts_of(decision: Decision) -> Iterator[Fact]:
    """What became true, in order."""
    match decision:
        case BeginRun():
            yield RunSubmitted(decision.input)
            if decision.trigger is not None and decision.parent is None:
                fired = decision.trigger
                yield TriggerFired(fired.type, fired.depth, fired.id, fired.source)
            yield RunStarted()
        case CreateToken():
            yield _created(decision)
        case CreateTokens():
            yield from (_created(creation) for creation in decision.tokens)
        case DispatchToken(token, node, attempt=attempt):
            yield TokenDispatched(token)
            yield TaskDispatched(token, node, attempt)
        case RedeliverToken(token, node=node, attempt=attempt, deliveries=deliveries):
            yield TaskDispatched(token, node, attempt, deliveries)
        case SuspendToken(token, due=due, sleep=sleep):
            yield TokenWaiting(token, "timer", due=due)
            yield TimerSet(token, due, sleep)
        case WakeToken(token, node=node, attempt=attempt):
            yield TimerFired(token)
            yield TokenDispatched(token)
            yield TaskDispatched(token, node, attempt)
        case MarkExecuting(token):
            yield TokenExecuting(token)
        case NoteTask():
            yield _noted(decision)
        case WaitForTimer(token, due=due, label=label):
            yield TokenWaiting(token, "timer", due=due)
            yield TimerSet(token, due, label)
        case CallWorkflow(token, child=child, workflow=workflow):
            yield TokenWaiting(token, "subworkflow", due=decision.deadline)
            yield ChildStarted(token, child, workflow)
        case EndChild():
            yield _child_ended(decision)
        case StopChild(token, child, reason):
            yield ChildCancelled(token, child, reason)
        case OpenGate(token, node, title=title, deadline=deadline):
            yield TokenWaiting(token, "gate", due=deadline)
            yield GateOpened(token, node, title, deadline)
        case TakeAnswer(token, node, answer):
            yield GateAnswered(token, node, answer.value, answer.by)
        case TimeOutGate(token, node):
            yield GateTimedOut(token, node)
        case WaitForSignal(token, deadline=deadline):
            yield TokenWaiting(token, "signal", due=deadline)
        case KeepSignal(name=name, value=value, key=key):
            yield SignalReceived(name, value, key)
        case NoteFiring():
            yield _firing(decision)
        case SetPaused(paused):
            yield RunPaused() if paused else RunUnpaused()
        case ForkHistory(run=run, entry=entry, writes=writes):
            yield RunForked(run, entry, writes)
        case ReserveCredits(token, node, amount):
            yield CreditsReserved(token, node, amount)
        case SettleCredits(token, node, cost, refund, shortfall):
            yield CreditsSettled(token, node, cost, refund, shortfall)
        case AskForCredits(amount=amount):
            yield CreditsRequested(amount)
        case TakeCredits(amount):
            yield CreditsReceived(amount)
        case DeclareShort(missing):
            yield CreditsShort(missing)
        case LendCredits(run, amount):
            yield CreditsLent(run, amount)
        case ReclaimCredits(run, used):
            yield CreditsReturned(run, used)
        case BeginNode(token, node):
            yield NodeStarted(token, node)
        case HoldNode(token, held=held):
            yield TokenWaiting(token, "timer", due=held.due)
            yield TimerSet(token, held.due, held.label)
        case ExecuteNode(token, node, executed, dead_end, waited):
            if waited:
                yield TimerFired(token)
            warning = f"nothing leaves by '{executed.branch}': the path ends here" if dead_end else None
            yield NodeCompleted(token, node, executed.outputs, executed.branch, warning)
        case BreakNode(token, node, failure):
            yield NodeFailed(token, node, failure)
        case ReopenNodes():
            pass  # `run.forked` was said, and the nodes will be heard of again
        case SettleNodes(skipped):
            yield from (NodeSkipped(node) for node in skipped)
        case RetryToken():
            yield TaskRetrying(decision.token, decision.node, decision.attempt, decision.due, decision.failure)
            yield TokenWaiting(decision.token, "retry", due=decision.due)
        case FinishNode():
            yield from _finished(decision)
        case FailNode(token, node, error):
            yield TaskFailedAt(token, node, error)
        case RouteToken(token, ends=ends):
            if ends is not None:
                yield _ended(token, ends)
        case OpenGroup():
            yield FanOutStarted(decision.group, decision.name, decision.node, decision.total)
        case ParkToken(token, node=node):
            yield TokenWaiting(token, "siblings", node)
        case OpenFanIn():
            yield FanInOpened(decision.group, decision.node, count_in(decision.slots))
            yield from (TokenCompleted(TokenId(number)) for number in numbers_in(decision.tokens))
        case MergeBranches():
            yield BranchesMerged(decision.group, decision.node, decision.target)
        case TimeOutFanIn(group, node):
            yield SyncTimedOut(group, node)
        case EndTokens(tokens, status, reason):
            yield from (_ended(TokenId(number), status, reason) for number in numbers_in(tokens))
        case IgnoreLate():
            yield LateIgnored(decision.token, decision.attempt, decision.why)
        case SetStatus(status):
            yield RunWaiting() if status == "waiting" else RunResumed()
        case EndRun():
            yield _run_ended(decision)
        case SettleSlot() | CloseGroup() | AbandonTokens() | KeepAnswer() | TakeSignal() | ReplyTo():
            pass  # inner bookkeeping: what it leads to is a fact of its own
        case AwaitCredits() | UndoCall():
            pass  # likewise
        case _:
            assert_never(decision)


def count_events(decisions: Iterable[Decision]) -> int:
    """How many facts there are, without making them."""
    counted = 0
    for decision in decisions:
        fixed = _COUNTS.get(type(decision))
        counted += _count(decision) if fixed is None else fixed
    return counted


def _count(decision: Decision) -> int:
    match decision:
        case FinishNode():
            return (decision.work is not None) + bool(decision.writes or decision.missing)
        case RouteToken():
            return decision.ends is not None
        case CreateTokens():
            return len(decision.tokens)
        case EndTokens():
            return count_in(decision.tokens)
        case OpenFanIn():
            return 1 + count_in(decision.tokens)
        case SettleNodes():
            return len(decision.skipped)
        case ExecuteNode():
            return 1 + decision.waited
        case BeginRun():
            return 2 + (decision.trigger is not None and decision.parent is None)
        case _:
            return 1


_COUNTS: dict[type[Decision], int] = {
    **dict.fromkeys((DispatchToken, WaitForTimer, RetryToken, CallWorkflow, OpenGate, HoldNode, SuspendToken), 2),
    WakeToken: 3,
    **dict.fromkeys(
        (SettleSlot, CloseGroup, AbandonTokens, KeepAnswer, TakeSignal, ReplyTo, ReopenNodes, AwaitCredits, UndoCall), 0
    ),
    **dict.fromkeys((CreateToken, MarkExecuting), 1),
}
"""Where it is always the same number; those that are not here are counted one by one."""


def _created(decision: CreateToken) -> TokenCreated:
    index = None if decision.slot is None else decision.slot[1]
    return TokenCreated(decision.token, decision.node, decision.path, decision.parent, index)


def _finished(decision: FinishNode) -> Iterator[Fact]:
    if decision.work == "task":
        yield TaskCompleted(decision.token, decision.node)
    elif decision.work == "timer":
        yield TimerFired(decision.token)
    if decision.writes or decision.missing:
        yield ContextUpdated(decision.token, decision.writes, decision.missing)


def _child_ended(decision: EndChild) -> Fact:
    if decision.status == "completed":
        return ChildCompleted(decision.token, decision.child)
    if decision.status == "cancelled":
        reason = None if decision.error is None else decision.error.message
        return ChildCancelled(decision.token, decision.child, reason)
    return ChildFailed(decision.token, decision.child, decision.error)


def _noted(decision: NoteTask) -> Fact:
    where = decision.token, decision.node, decision.attempt
    match decision.note:
        case ProgressNote(step, done, text):
            return TaskProgress(*where, step, done, text)
        case LogNote(step, stream, text, truncated):
            return TaskLog(*where, step, stream, text, truncated)
        case MissingNote(step, paths):
            return TaskMissing(*where, step, paths)
        case CostNote(step, credits):
            return TaskCost(*where, step, credits)
        case TokensNote(step, profile, input, output):
            return TaskTokens(*where, step, profile, input, output)


def _firing(decision: NoteFiring) -> Fact:
    if decision.code is not None:
        return TriggerRefused(decision.trigger, decision.code, decision.problem or "")
    return TriggerFired("event", decision.depth, decision.trigger, started=decision.run)


def _ended(token: TokenId, status: TokenEnd, reason: str | None = None) -> Fact:
    match status:
        case "completed":
            return TokenCompleted(token)
        case "failed":
            return TokenFailed(token)
        case "timed_out":
            return TokenTimedOut(token)
        case "cancelled":
            return TokenCancelled(token, reason)


def _run_ended(decision: EndRun) -> Fact:
    match decision.status:
        case "completed":
            return RunCompleted(decision.output)
        case "failed":
            return RunFailed(decision.error)
        case "cancelled":
            return RunCancelled(decision.error)
        case "timed_out":
            return RunTimedOut(decision.error)
        case "exhausted":
            return RunExhausted(decision.error)
        case "submitted" | "running" | "waiting":
            raise BrokenInvariant("a run does not end like this", status=decision.status)
