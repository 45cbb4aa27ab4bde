"""What a due timer means for a token, a fan-in or the run."""

from jeton.model.cue import TimerDue
from jeton.model.decision import DispatchToken, RedeliverToken, RouteToken, WakeToken
from jeton.model.failure import RunError, TaskFailed
from jeton.model.state.phase import (
    Dispatched,
    Executing,
    Sleeping,
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
from jeton.planning.tokens.node import Plan, plan_success, plan_task_failure, timeout_ms
from jeton.planning.waits.gate import plan_gate_timeout
from jeton.planning.waits.signal import plan_signal_timeout


def plan_due(program: Program, state: RunState, timer: TimerDue, now: int) -> Plan:
    """Plan what follows from a timer that is due."""
    if timer.token is not None:
        return _plan_token_due(program, state, state.tokens[timer.token], now)
    if timer.group is not None and timer.node is not None:
        return Plan(plan_fan_in_timeout(program, state, timer.group, timer.node, now))
    message = f"the run was not done {program.workflow.timeout_ms} ms after it started"
    return Plan(end_run(state, now, "timed_out", RunError("timed_out", message)))


def _plan_token_due(program: Program, state: RunState, token: Token, now: int) -> Plan:
    allowed = timeout_ms(program, token)
    match token.phase:
        case Sleeping():
            return Plan([WakeToken(token.id, token.node, now, now + allowed, token.attempt)])
        case WaitingForTimer() if token.abandoned:
            return Plan([RouteToken(token.id, token.node, "completed")])
        case WaitingForTimer():
            return plan_success(program, state, token, None, now)
        case WaitingForRetry():
            return Plan([DispatchToken(token.id, token.node, now, now + allowed, token.attempt, token.input)])
        case Dispatched(deliveries=deliveries):
            # no worker began it: it may be queued, so it is handed out again and has not timed out
            return Plan([RedeliverToken(token.id, token.node, now, now + allowed, token.attempt, deliveries)])
        case Executing() if token.abandoned:
            # its worker must be stopped
            return Plan(end_tokens(state, (token.id,), "timed_out", "the branch was abandoned"))
        case Executing():
            failure = TaskFailed("timed_out", f"the task was not done {allowed} ms after it began")
            return Plan(plan_task_failure(program, state, token, failure, now))
        case WaitingForSubworkflow() if token.abandoned:
            return Plan(end_tokens(state, (token.id,), "timed_out", "the branch was abandoned"))
        case WaitingForSubworkflow(since, deadline=deadline):
            failure = TaskFailed(
                "timed_out", f"the workflow was not done {(deadline or since) - since} ms after its start"
            )
            return Plan([*stop_children(token, "timed out"), *plan_failure(program, state, token, failure, now)])
        case WaitingForGate():
            return plan_gate_timeout(program, state, token, now)
        case WaitingForSignal():
            return plan_signal_timeout(program, state, token, now)
        case _:
            return Plan([])
