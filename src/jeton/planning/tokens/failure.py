"""What follows from a failed node: a transition that handles it, a lost branch, or a failed run."""

from jeton.model.decision import Decision, FailNode, RouteToken, SettleSlot
from jeton.model.failure import RunError, TaskFailed
from jeton.model.ids import SlotId
from jeton.model.json import JsonObject
from jeton.model.state.run import RunState, Token, TokenEnd
from jeton.planning.flow.progress import plan_flow_failure
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.cancel import alive_in_slot, end_run, end_tokens
from jeton.planning.tokens.joins import tolerates_lost_branch
from jeton.planning.tokens.routing import BadFanOut, choose_transitions, follow
from jeton.planning.tokens.scope import scope_of
from jeton.planning.turns.calls import plan_call_failure


def last_error(token: Token, failure: TaskFailed) -> JsonObject:
    """The value of `state._last_error` after a failure."""
    error: JsonObject = {
        "node": token.node,
        "step": failure.step,
        "type": failure.type,
        "message": failure.message,
        "attempts": token.attempt,
    }
    return error if failure.calls == 1 else {**error, "calls": failure.calls}


def plan_failure(program: Program, state: RunState, token: Token, failure: TaskFailed, now: int) -> list[Decision]:
    """Route a failure. Only transitions that read `state._last_error` are considered: no other may swallow it."""
    if program.talk is not None:
        return plan_call_failure(program, state, token, failure, now)
    if program.flow is not None:
        return plan_flow_failure(program, state, token, failure, now)
    node = program.nodes[token.node]
    error = last_error(token, failure)
    ends: TokenEnd = "timed_out" if failure.type == "timed_out" else "failed"
    failed: list[Decision] = [FailNode(token.id, token.node, error)]
    names = scope_of(program, state, token, error=error)
    choice = choose_transitions(node.handlers, token.loops, names, node.definition.fan_out == "first_match")
    if isinstance(choice, RunError):
        return failed + end_run(state, now, "failed", choice, failing=token, ends=ends)
    if choice.matches:
        onward = follow(program, state, token, choice, names, ends, error)
        if isinstance(onward, BadFanOut):
            onward = RunError(onward.type, onward.message, token.node, token.id)
        if isinstance(onward, RunError):
            return failed + end_run(state, now, "failed", onward, failing=token, ends=ends)
        return failed + onward
    lost = continuing_slot(program, state, token.slot)
    if lost is None:
        return failed + end_run(state, now, "failed", _run_error(token, failure), failing=token, ends=ends)
    failed.append(RouteToken(token.id, token.node, ends, choice.considered))
    others = set(alive_in_slot(state, lost)) - {token.id}
    failed += end_tokens(state, others, "cancelled", f"branch lost: '{token.node}' failed")
    failed.append(SettleSlot(lost, now))
    return failed


def continuing_slot(program: Program, state: RunState, slot: SlotId | None) -> SlotId | None:
    """The innermost enclosing branch that may be lost without failing the run."""
    while slot is not None:
        group = state.groups[slot[0]]
        if tolerates_lost_branch(program, state, group):
            return slot
        slot = group.outer
    return None


def _run_error(token: Token, failure: TaskFailed) -> RunError:
    details: JsonObject | None = None if failure.stack is None else {"stack": failure.stack}
    return RunError(
        failure.type, failure.message, token.node, token.id, failure.step, token.attempt, details, failure.calls
    )
