"""Child runs: starting one, and what its end means for the token that waits."""

from msgspec import UnsetType

from jeton.expression import Expression
from jeton.model.decision import CallWorkflow, Decision, EndChild, EndRun, IgnoreLate, RouteToken, UndoCall
from jeton.model.definition.workflow import WorkflowTarget
from jeton.model.failure import BrokenInvariant, RunError, TaskFailed
from jeton.model.ids import child_run_id
from jeton.model.json import Json, JsonObject
from jeton.model.message import ChildEnded
from jeton.model.state.phase import WaitingForSubworkflow
from jeton.model.state.run import RunState, Token, TokenEnd
from jeton.planning.credits import plan_short
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.cancel import end_run
from jeton.planning.tokens.failure import plan_failure
from jeton.planning.tokens.node import Plan, plan_success, wait_timeout
from jeton.planning.tokens.scope import scope_of
from jeton.planning.turns.budget import spent_by_run
from jeton.planning.turns.places import program_at


def plan_call(
    program: Program,
    state: RunState,
    token: Token,
    given: Json | UnsetType,
    missing: tuple[str, ...],
    now: int,
    names: JsonObject | None = None,
) -> list[Decision]:
    """Start a child run. The child checks its input, and fails if it does not fit the schema."""
    target = _target(program, token)
    deepest = program.workflow.limits.max_depth
    if state.head.depth >= deepest:
        message = f"max_depth: '{target.workflow}' would be called {deepest + 1} levels below the root"
        return end_run(state, now, "failed", RunError("limit_exceeded", message, token.node, token.id), failing=token)
    timeout = program.nodes[token.node].timeout
    if isinstance(timeout, Expression):
        found = wait_timeout(timeout, names or scope_of(program, state, token))
        if isinstance(found, TaskFailed):
            return plan_failure(program, state, token, found, now)
        timeout = found
    deadline = None if timeout is None else now + timeout
    child = child_run_id(state.head.run, token.id)
    return [
        CallWorkflow(
            token.id, token.node, now, child, target.workflow, given, deadline, target.inherit_artifacts, missing
        )
    ]


def plan_child_ended(program: Program, state: RunState, message: ChildEnded) -> Plan:
    """Use the child's output as the node's result, or its failure as the node's, unless the node catches it."""
    token = state.tokens.get(message.token)
    if token is None or not isinstance(token.phase, WaitingForSubworkflow) or token.phase.child != message.child:
        return Plan([IgnoreLate(message.token, 1, f"nobody waits for run {message.child} any more")])
    if program.talk is not None:
        program = program_at(program, state, token)
    over = EndChild(token.id, message.child, message.status, message.error, message.spent)
    if token.abandoned:
        ends: TokenEnd = "completed" if message.status == "completed" else "failed"
        late = IgnoreLate(token.id, token.attempt, "the branch was abandoned")
        return Plan([over, late, RouteToken(token.id, token.node, ends)])
    if message.status == "completed":
        plan = plan_success(program, state, token, message.output, message.at)
    elif _target(program, token).on_failure == "catch":
        plan = plan_success(program, state, token, {"error": caught_error(message)}, message.at)
    elif message.status == "exhausted" and state.head.purse is not None:
        plan = Plan(_plan_exhausted(program, state, token, message))
    else:
        plan = Plan(plan_failure(program, state, token, _failure(program, token, message), message.at))
    return Plan([over, *spent_by_run(program, state, token, message.spent, message.at), *plan.decisions], plan.then)


def _plan_exhausted(program: Program, state: RunState, token: Token, message: ChildEnded) -> list[Decision]:
    """Route an exhausted child like any failure, but where that would end the run, exhaust the run instead.

    In a flow only the node itself can handle it, and lack of credits is otherwise not an error of its node."""
    if program.flow is None or program.flow.nodes[token.node].definition.on_error is not None:
        failure = _failure(program, token, message)
        failed = plan_failure(program, state, token, failure, message.at)
        end = failed[-1]
        if not (isinstance(end, EndRun) and end.error is not None and end.error.type == failure.type):
            return failed
    return [UndoCall(token.id, token.node), *plan_short(state)]


def caught_error(message: ChildEnded) -> JsonObject:
    """The value of `result.error` of a node that catches."""
    error = message.error
    return {
        "type": message.status if error is None else error.type,
        "message": message.status if error is None else error.message,
        "node": None if error is None else error.node,
        "status": message.status,
        "run_id": message.child,
    }


def _failure(program: Program, token: Token, message: ChildEnded) -> TaskFailed:
    called = _target(program, token).workflow
    kind = message.status if message.error is None else message.error.type
    why = "" if message.error is None else f": {message.error.message}"
    return TaskFailed(kind, f"workflow '{called}' {message.status.replace('_', ' ')} as run {message.child}{why}")


def _target(program: Program, token: Token) -> WorkflowTarget:
    target = program.nodes[token.node].definition.target
    if not isinstance(target, WorkflowTarget):
        raise BrokenInvariant("the node does not call a workflow", node=token.node)
    return target
