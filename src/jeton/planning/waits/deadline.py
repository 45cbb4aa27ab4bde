"""What a due timer means for a token, a fan-in or the run."""

from jeton.model.cue import TimerDue
from jeton.model.decision import DispatchToken, RedeliverToken, RouteToken, WakeToken
from jeton.model.failure import RunError, TaskFailed
from jeton.model.state.phase import (
    Dispatched,
    Executing,
    Sleeping,
    WaitingForAgent,
    WaitingForGate,
    WaitingForRetry,
    WaitingForSignal,
    WaitingForSubworkflow,
    WaitingForTimer,
)
from jeton.model.state.run import RunState, Token
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.cancel import end_run, end_tokens, stop_children
from jeton.planning.tokens.failure import plan_failure
from jeton.planning.tokens.fan_in import plan_fan_in_timeout
from jeton.planning.tokens.node import Plan, plan_success, plan_task_failure, task_timeout
from jeton.planning.turns.places import program_at
from jeton.planning.turns.tools import is_once, plan_next_attempt, plan_unknown
from jeton.planning.waits.gate import plan_gate_timeout
from jeton.planning.waits.signal import plan_signal_timeout


def plan_due(program: Program, state: RunState, timer: TimerDue, now: int) -> Plan:
    """Plan what follows from a timer that is due."""
    if timer.token is not None:
        return _plan_token_due(program, state, state.tokens[timer.token], now)
    if timer.group is not None and timer.node is not None:
        return Plan(plan_fan_in_timeout(program, state, timer.group, timer.node, now))
    allowed = program.timeout
    if not isinstance(allowed, int):
        allowed = (state.head.deadline or now) - (state.head.started_at or now)
    message = f"the run was not done {allowed} ms after it started"
    return Plan(end_run(state, now, "timed_out", RunError("timed_out", message)))


def _plan_token_due(program: Program, state: RunState, token: Token, now: int) -> Plan:
    match token.phase:
        case Sleeping() | WaitingForRetry():
            return _plan_again(program, state, token, now)
        case WaitingForTimer() if token.abandoned:
            return Plan([RouteToken(token.id, token.node, "completed")])
        case WaitingForTimer():
            return plan_success(program, state, token, None, now)
        case Dispatched() if program.talk is not None and is_once(program, state, token):
            return Plan(plan_unknown(program, state, token))
        case Dispatched(since, deadline, deliveries):
            # no worker began it: it may be queued, so it is handed out again and has not timed out
            return Plan([RedeliverToken(token.id, token.node, now, now + deadline - since, token.attempt, deliveries)])
        case Executing() if token.abandoned:
            # its worker must be stopped
            return Plan(end_tokens(state, (token.id,), "timed_out", "the branch was abandoned"))
        case Executing(since, deadline):
            failure = TaskFailed("timed_out", f"the task was not done {deadline - since} ms after it began")
            return Plan(plan_task_failure(program, state, token, failure, now))
        case WaitingForSubworkflow() if token.abandoned:
            return Plan(end_tokens(state, (token.id,), "timed_out", "the branch was abandoned"))
        case WaitingForSubworkflow(since, deadline=deadline):
            failure = TaskFailed(
                "timed_out", f"the workflow was not done {(deadline or since) - since} ms after its start"
            )
            return Plan([*stop_children(token, "timed out"), *plan_failure(program, state, token, failure, now)])
        case WaitingForAgent() if token.abandoned:
            return Plan(end_tokens(state, (token.id,), "timed_out", "the branch was abandoned"))
        case WaitingForAgent(since, deadline=deadline):
            failure = TaskFailed(
                "timed_out", f"the agent had not answered {(deadline or since) - since} ms after it was asked"
            )
            return Plan([*stop_children(token, "timed out"), *plan_failure(program, state, token, failure, now)])
        case WaitingForGate():
            return plan_gate_timeout(program, state, token, now)
        case WaitingForSignal():
            return plan_signal_timeout(program, state, token, now)
        case _:
            return Plan([])


def _plan_again(program: Program, state: RunState, token: Token, now: int) -> Plan:
    """Hand out the task of a token that slept, or whose retry is due. A tool may call a run or an agent again."""
    if program.talk is not None and program_at(program, state, token).nodes[token.node].task is None:
        return Plan(plan_next_attempt(program, state, token, now))
    allowed = task_timeout(program_at(program, state, token), state, token.node, token.input)
    if isinstance(allowed, TaskFailed):
        return Plan(plan_failure(program, state, token, allowed, now))
    if isinstance(token.phase, Sleeping):
        return Plan([WakeToken(token.id, token.node, now, now + allowed, token.attempt)])
    return Plan([DispatchToken(token.id, token.node, now, now + allowed, token.attempt, token.input)])
