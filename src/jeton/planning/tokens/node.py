"""What follows from a node's result: its output is written and its token routed, or its task is retried."""

import msgspec
from msgspec import UnsetType

from jeton.expression import Expression, Failed
from jeton.expression.counts import NotACount, count_of
from jeton.expression.mapping import evaluate_mapping, failure_text
from jeton.model.decision import Decision, FinishNode, RetryToken, RouteToken
from jeton.model.definition.task import DEFAULT_TASK_TIMEOUT_MS
from jeton.model.failure import RunError, TaskFailed
from jeton.model.ids import TokenId
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunState, Token
from jeton.planning.flow.progress import plan_flow_success
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.cancel import end_run
from jeton.planning.tokens.failure import plan_failure
from jeton.planning.tokens.routing import BadFanOut, choose_transitions, follow, move, no_match_error
from jeton.planning.tokens.scope import scope_of
from jeton.planning.tokens.writes import default_writes, state_problem
from jeton.planning.turns.calls import plan_call_success
from jeton.planning.turns.places import program_at, retries_all
from jeton.planning.waits.retry import may_retry, retry_delay_ms


class NodeFinished(msgspec.Struct, frozen=True):
    """A node that succeeded and whose token is routed once its output is written."""

    token: TokenId
    result: Json


class Plan(msgspec.Struct, frozen=True):
    """Decisions to fold, and a node to route from once they are folded."""

    decisions: list[Decision]
    then: NodeFinished | None = None


def expression_failure(where: str, failed: Failed) -> TaskFailed:
    """The failure of a node whose expression could not be evaluated."""
    return TaskFailed("expression_error", failure_text(where, failed))


def plan_success(
    program: Program, state: RunState, token: Token, result: Json, now: int, missing: tuple[str, ...] = ()
) -> Plan:
    """Map the output of a node that succeeded, then route. `missing`: paths that its input mapping did not find."""
    if program.talk is not None:
        return Plan(plan_call_success(program, state, token, result, now))
    if program.flow is not None:
        return Plan(plan_flow_success(program, state, token, result, now))
    node = program.nodes[token.node]
    if node.output_mapping is None:
        writes = default_writes(node, token, result)
    else:
        found = evaluate_mapping(node.output_mapping, scope_of(program, state, token, result))
        if type(found) is Failed:
            return Plan(plan_failure(program, state, token, expression_failure("output_mapping", found), now))
        writes, missing = found[0], (*missing, *found[1])
    if token.slot is None and writes and program.workflow.state_schema is not None:
        problem = state_problem(program, state, writes)
        if problem is not None:
            return Plan(plan_failure(program, state, token, TaskFailed("state_invalid", problem), now))
    return Plan([FinishNode(token.id, token.node, token.phase.work, writes, missing)], NodeFinished(token.id, result))


def plan_onward(program: Program, state: RunState, finished: NodeFinished, now: int) -> list[Decision]:
    """Route a token whose node finished and whose output is written."""
    token, result = state.tokens[finished.token], finished.result
    node = program.nodes[token.node]
    if node.direct is not None:
        return move(state, token, node.direct)
    if not node.tiers:
        return [RouteToken(token.id, token.node, "completed")]
    names = scope_of(program, state, token, result)
    choice = choose_transitions(node.tiers, token.loops, names, node.definition.fan_out == "first_match")
    if isinstance(choice, RunError):
        return end_run(state, now, "failed", _at(choice, token), failing=token)
    if not choice.matches:
        if program.workflow.on_no_match == "complete":
            return [RouteToken(token.id, token.node, "completed", choice.considered)]
        error = no_match_error(program, node, token, choice, names)
        return end_run(state, now, "failed", error, failing=token)
    onward = follow(program, state, token, choice, names)
    if isinstance(onward, BadFanOut):
        return plan_failure(program, state, token, TaskFailed(onward.type, onward.message), now)
    if isinstance(onward, RunError):
        return end_run(state, now, "failed", _at(onward, token), failing=token)
    return onward


def _at(error: RunError, token: Token) -> RunError:
    return RunError(error.type, error.message, token.node, token.id, details=error.details)


def plan_task_failure(program: Program, state: RunState, token: Token, failure: TaskFailed, now: int) -> list[Decision]:
    """Retry a failed task if its policy allows, else fail the node."""
    if program.talk is not None:
        program = program_at(program, state, token)
    task = program.nodes[token.node].task
    policy = task.retry if task is not None else None
    if program.talk is not None and retries_all(program, token.node, failure):
        failure = msgspec.structs.replace(failure, retry=True)
    if policy is not None and may_retry(policy, token.attempt, failure) and not token.abandoned:
        due = now + retry_delay_ms(policy, token.attempt, state.head.run, token.id)
        return [RetryToken(token.id, token.node, now, due, token.attempt + 1, failure)]
    return plan_failure(program, state, token, failure, now)


def task_timeout(program: Program, state: RunState, node: str, given: Json | UnsetType) -> int | TaskFailed:
    """How long one attempt of the node's task may take."""
    timeout = program.nodes[node].timeout
    if not isinstance(timeout, Expression):
        return DEFAULT_TASK_TIMEOUT_MS if timeout is None else timeout
    names: JsonObject = {"input": state.input if isinstance(given, UnsetType) else given, "run": state.facts}
    return wait_timeout(timeout, names)


def wait_timeout(timeout: Expression, names: JsonObject) -> int | TaskFailed:
    """How long a wait or a task may take."""
    found = count_of("timeout_ms", timeout, names)
    return TaskFailed(found.type, found.message) if isinstance(found, NotACount) else found
