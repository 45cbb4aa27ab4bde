"""Dispatch of a run's messages, and of the cues that follow from them, to the modules that plan them."""

from typing import assert_never

from msgspec import UNSET

from jeton.expression import Expression
from jeton.expression.counts import Count
from jeton.model import decision as d
from jeton.model import message as m
from jeton.model.cue import Cue, GroupChanged, SlotQuiet, TimerDue, TokenReady, TurnMoved
from jeton.model.failure import RunError, TaskFailed
from jeton.model.ids import TokenId
from jeton.model.state.phase import Dispatched, Executing, Pending, WaitingForAgent
from jeton.model.state.run import RunState, Token, TokenEnd
from jeton.model.state.talk import TalkFork
from jeton.planning.credits import plan_account, plan_credits, plan_short, settle
from jeton.planning.flow.progress import plan_flow_retry
from jeton.planning.plan_turn import plan_turn
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.begin import plan_begin
from jeton.planning.tokens.cancel import end_run
from jeton.planning.tokens.completion import plan_completion
from jeton.planning.tokens.fan_in import plan_group, plan_slot
from jeton.planning.tokens.node import Plan, plan_success, plan_task_failure
from jeton.planning.tokens.start import plan_cancelled_start, plan_start
from jeton.planning.turns.budget import noted
from jeton.planning.turns.chat import plan_chat, plan_stop, plan_talk_fork
from jeton.planning.turns.day import plan_day_answer
from jeton.planning.turns.places import kind_of_node, turn_of
from jeton.planning.turns.stop import close_conversation
from jeton.planning.turns.tools import is_once, plan_unknown
from jeton.planning.turns.waiters import plan_waiters
from jeton.planning.waits.agent import plan_conversation_ended, plan_turn_over
from jeton.planning.waits.child import plan_child_ended
from jeton.planning.waits.deadline import plan_due
from jeton.planning.waits.gate import plan_answer
from jeton.planning.waits.signal import plan_signal

MAX_DELIVERIES = 5


def plan_run(program: Program, state: RunState, message: m.Message) -> Plan:
    """Plan what a message changes. After the run's end nothing does."""
    if state.head.ended_at is not None:
        return Plan([])
    match message:
        case m.TaskFinished():
            return _plan_finished(program, state, message)
        case m.StartRun():
            return Plan(plan_start(program, state, message))
        case m.TaskStarted():
            return Plan(plan_started(program, state, message))
        case m.TaskNoted():
            return Plan(_plan_noted(program, state, message))
        case m.TaskSuspended():
            return Plan(_plan_suspended(state, message))
        case m.TaskAsked():
            return Plan(_plan_asked(program, state, message))
        case m.TaskLost():
            return Plan(_plan_lost(program, state, message))
        case m.TaskReturned():
            return Plan(_plan_returned(program, state, message))
        case m.CancelRun():
            error = RunError("cancelled", message.reason or "the run was cancelled")
            if program.talk is not None:
                return Plan(close_conversation(state, message.at, error, untold=message.by_parent))
            begin = plan_cancelled_start(state, message)
            return Plan([*begin, *end_run(state, message.at, "cancelled", error, untold=message.by_parent)])
        case m.ChildEnded(token=token_id):
            token = state.tokens.get(token_id)
            if token is not None and isinstance(token.phase, WaitingForAgent):
                return plan_conversation_ended(program, state, token, message)
            return plan_child_ended(program, state, message)
        case m.AnswerGate():
            return plan_answer(program, state, message)
        case m.SignalRun():
            return plan_signal(program, state, message)
        case m.PauseRun():
            return Plan([] if state.head.paused else [d.SetPaused(paused=True)])
        case m.UnpauseRun():
            return Plan([d.SetPaused(paused=False)] if state.head.paused else [])
        case m.ForkRun(talk=TalkFork() as talk):
            return Plan(plan_talk_fork(state, message, talk))
        case m.ForkRun():
            fork = _plan_fork(program, state, message)
            return Plan(plan_flow_retry(program, state, fork) if message.again else [fork])
        case m.CreditsGranted():
            return Plan([] if state.head.purse is None else [d.TakeCredits(message.amount)])
        case m.CreditsAsked() | m.CreditsClosed():
            return Plan(plan_account(state, message))
        case m.CreditsEnded():
            return Plan(plan_short(state))
        case m.BudgetAnswered():
            return Plan(plan_day_answer(state, message) if program.talk is not None else [])
        case m.BudgetAsked() | m.BudgetSettled():
            return Plan([])  # for an account, which is no run
        case m.TriggerHeard(_, trigger, depth, run, code, problem):
            return Plan([d.NoteFiring(trigger, depth, run, code, problem)])
        case m.ChatSent():
            return Plan(plan_chat(program, state, message))
        case m.StopTurn():
            return Plan(plan_stop(program, state, message) if program.talk is not None else [])
        case m.WaitersAdded():
            return Plan(plan_waiters(state, message))
        case m.TurnOver():
            return plan_turn_over(program, state, message)
        case m.AlarmRang() | m.ContinueRun():
            return Plan([])  # due timers and pending tokens are planned as cues
        case _:
            assert_never(message)


def plan_cue(program: Program, state: RunState, cue: Cue, now: int) -> Plan:
    """Plan what follows from decisions that were just folded."""
    match cue:
        case TokenReady(token_id):
            token = state.tokens.get(token_id)
            if token is None or type(token.phase) is not Pending:
                return Plan([])
            return plan_begin(program, state, token, now)
        case SlotQuiet(slot):
            return Plan(plan_slot(program, state, slot, now))
        case GroupChanged(group):
            return Plan(plan_group(program, state, group, now))
        case TimerDue():
            return plan_due(program, state, cue, now)
        case TurnMoved(turn):
            return Plan([] if state.head.paused else plan_turn(program, state, turn, now))
        case _:
            assert_never(cue)


def plan_idle(program: Program, state: RunState, now: int) -> list[d.Decision]:
    """Plan what happens when nothing is under way: the run may be over, or wait for credits."""
    head = state.head
    if head.busy or head.parked or head.status == "submitted" or program.talk is not None:
        return plan_credits(program, state, now)
    return plan_completion(program, state, now)


def _plan_fork(program: Program, state: RunState, message: m.ForkRun) -> d.ForkHistory:
    """Plan the fork of a history. The timeout of the run begins anew, as long as the first time if it is from data."""
    timeout: Count | None = program.timeout
    if isinstance(timeout, Expression):
        timeout = (state.head.deadline or 0) - (state.head.started_at or 0)
    deadline = None if timeout is None else message.at + timeout
    shift = max(0, message.at - message.since)
    return d.ForkHistory(message.at, message.run, message.entry, shift, deadline, message.writes, message.credits)


def _plan_finished(program: Program, state: RunState, message: m.TaskFinished) -> Plan:
    token = _waited_for(state, message.token, message.attempt)
    if isinstance(token, str):
        return Plan([d.IgnoreLate(message.token, message.attempt, token)])
    if token.abandoned:
        ends: TokenEnd = "completed" if message.failure is None else "failed"
        late = d.IgnoreLate(message.token, message.attempt, "the branch was abandoned")
        return Plan(settle(program, token, [late, d.RouteToken(token.id, token.node, ends)]))
    if message.failure is not None:
        failed = plan_task_failure(program, state, token, message.failure, message.at)
        return Plan(failed if isinstance(failed[0], d.RetryToken) else settle(program, token, failed))
    result = None if message.result is UNSET else message.result
    plan = plan_success(program, state, token, result, message.at)
    return plan if token.cost is None else Plan(settle(program, token, plan.decisions), plan.then)


def _waited_for(state: RunState, token_id: TokenId, attempt: int) -> Token | str:
    """The token that waits for this result, or the reason why none does."""
    token = state.tokens.get(token_id)
    if token is None:
        return "the token has ended"
    if type(token.phase) not in _AT_WORK:
        return "the token waits for no result"
    if token.attempt != attempt:
        return f"attempt {token.attempt} is under way"
    return token


_AT_WORK = frozenset((Dispatched, Executing))


def plan_started(program: Program, state: RunState, message: m.TaskStarted) -> list[d.Decision]:
    """Mark a dispatched token as executing; in any other phase the message is late."""
    token = state.tokens.get(message.token)
    if token is None or type(token.phase) is not Dispatched or token.attempt != message.attempt:
        return []
    return [d.MarkExecuting(token.id, message.at, message.at + token.phase.deadline - token.phase.since)]


def _plan_noted(program: Program, state: RunState, message: m.TaskNoted) -> list[d.Decision]:
    """Record a note of an attempt that is under way; any other is late."""
    token = _waited_for(state, message.token, message.attempt)
    if isinstance(token, str):
        return []
    note = d.NoteTask(token.id, token.node, token.attempt, message.note)
    return [note, *noted(program, state, token, message.note)]


def _plan_suspended(state: RunState, message: m.TaskSuspended) -> list[d.Decision]:
    """Let a task sleep, also in an abandoned branch."""
    token = _waited_for(state, message.token, message.attempt)
    if isinstance(token, str):
        return [d.IgnoreLate(message.token, message.attempt, token)]
    if token.slept is not None and message.due <= token.slept.woken_at:  # a late message about an earlier sleep
        return [d.IgnoreLate(message.token, message.attempt, "that sleep is over")]
    return [d.SuspendToken(token.id, token.node, message.at, message.due, message.sleep, message.state)]


def _plan_asked(program: Program, state: RunState, message: m.TaskAsked) -> list[d.Decision]:
    """Open a gate for what a task asks. Nobody is asked for an abandoned branch, whose task is over then."""
    token = _waited_for(state, message.token, message.attempt)
    if isinstance(token, str):
        return [d.IgnoreLate(message.token, message.attempt, token)]
    if token.abandoned:
        late = d.IgnoreLate(message.token, message.attempt, "the branch was abandoned")
        return settle(program, token, [late, d.RouteToken(token.id, token.node, "failed")])
    if message.continued != token.continued:
        return [d.IgnoreLate(message.token, message.attempt, "that question was answered")]
    due = None if message.timeout_ms is None else message.at + message.timeout_ms
    return [d.AskInput(token.id, token.node, message.at, message.title, message.schema, message.state, due)]


def _plan_returned(program: Program, state: RunState, message: m.TaskReturned) -> list[d.Decision]:
    """Take back the delivery of an attempt that a clean shutdown cut off. The next process hands it out again."""
    token = _waited_for(state, message.token, message.attempt)
    if isinstance(token, str) or not isinstance(token.phase, Dispatched | Executing):
        return []
    if program.talk is not None and is_once(program, state, token):
        return plan_unknown(program, state, token)
    return _redeliver(program, state, token, token.phase, message.at, max(0, token.phase.deliveries - 1))


def _redeliver(
    program: Program, state: RunState, token: Token, phase: Dispatched | Executing, now: int, deliveries: int
) -> list[d.Decision]:
    """Hand out the same attempt again. What a model streamed is void."""
    due = now + phase.deadline - phase.since
    again = d.RedeliverToken(token.id, token.node, now, due, token.attempt, deliveries)
    if program.talk is None or kind_of_node(token.node) != "model":
        return [again]
    turn = turn_of(state, token)
    return [again, d.RestartMove(turn.number, turn.moves, deliveries)]


def _plan_lost(program: Program, state: RunState, message: m.TaskLost) -> list[d.Decision]:
    """Hand out a lost attempt again, a limited number of times, because the task may be what ends its worker."""
    token = _waited_for(state, message.token, message.attempt)
    if isinstance(token, str) or not isinstance(token.phase, Dispatched | Executing):
        return []
    deliveries = token.phase.deliveries
    if program.talk is not None and is_once(program, state, token):
        return plan_unknown(program, state, token)
    if deliveries < MAX_DELIVERIES:
        return _redeliver(program, state, token, token.phase, message.at, deliveries + 1)
    if token.abandoned:
        return [d.RouteToken(token.id, token.node, "failed")]
    problem = f"{deliveries} workers got this task, and each ended or stopped answering before it was done"
    failure = TaskFailed("worker_lost", f"{problem}. The task may be what ends them, and is not retried")
    return plan_task_failure(program, state, token, failure, message.at)
