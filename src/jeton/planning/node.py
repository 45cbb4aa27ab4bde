"""What a node does with its token: hand out its work, wait, or pass straight through; and what its result leads to."""

from datetime import datetime
from typing import Literal, NamedTuple

from msgspec import UNSET, UnsetType

from jeton.expression import Expression, Failed, Missing
from jeton.model.cue import NodeFinished
from jeton.model.decision import Decision, DispatchToken, FinishNode, RetryToken, RouteToken, WaitForTimer
from jeton.model.failure import RunError, TaskFailed
from jeton.model.json import Json, JsonObject
from jeton.model.paths import written
from jeton.model.run import Dispatched, Executing, RunState, Token, WaitingForTimer
from jeton.model.task import DEFAULT_TASK_TIMEOUT_MS
from jeton.planning.cancel import end_run
from jeton.planning.failure import plan_failure
from jeton.planning.program import Place, Program
from jeton.planning.retry import may_retry, retry_delay_ms
from jeton.planning.routing import BadFanOut, choose, follow, no_match
from jeton.planning.scope import mapped, scope_of
from jeton.planning.writes import default_writes, state_problem


class Plan(NamedTuple):
    """Decisions to fold, and what to look at right after: the routing of a node whose output they write."""

    decisions: list[Decision]
    then: NodeFinished | None = None


def plan_begin(program: Program, state: RunState, token: Token, now: int) -> Plan:
    """A pending token begins its node."""
    limit = program.workflow.limits.max_node_executions
    if state.head.executions >= limit:
        message = f"max_node_executions: node '{token.node}' would be execution {limit + 1} of this run"
        return Plan(
            end_run(state, now, "failed", RunError("limit_exceeded", message, token.node, token.id), failing=token)
        )
    place = program.places[token.node]
    found = _input(program, state, token, place)
    if isinstance(found, TaskFailed):
        return Plan(plan_failure(program, state, token, found, now))
    given, missing = found
    if place.task is not None:
        return Plan([DispatchToken(token.id, token.node, now, now + place.task.timeout_ms, 1, given, missing)])
    if place.wait is not None:
        return _plan_wait(program, state, token, place, missing, now)
    if place.node.target is not None:
        kind = type(place.node.target).__name__.removesuffix("Target").lower()
        failure = TaskFailed("unsupported_target", f"this version cannot run a node with the target '{kind}'")
        return Plan(plan_failure(program, state, token, failure, now))
    result = state.input if isinstance(given, UnsetType) else given
    return plan_success(program, state, token, result, now, missing)


def _input(
    program: Program, state: RunState, token: Token, place: Place
) -> tuple[Json | UnsetType, tuple[str, ...]] | TaskFailed:
    """The mapped input and the paths that were missing; unset without a mapping, which means the run's own input."""
    if place.input_mapping is None:
        return UNSET, ()
    found = mapped(place.input_mapping, scope_of(program, state, token))
    if isinstance(found, Failed):
        return _expression_failure("input_mapping", found)
    tree: JsonObject = {}
    for target, value in found[0].items():
        tree = written(tree, target.split("."), value)
    return tree, found[1]


def _expression_failure(where: str, failed: Failed) -> TaskFailed:
    return TaskFailed("expression_error", f"{where} at {failed.position}: {failed.problem} with {failed.values}")


def _plan_wait(
    program: Program, state: RunState, token: Token, place: Place, missing: tuple[str, ...], now: int
) -> Plan:
    names = scope_of(program, state, token)
    due: int | TaskFailed
    if place.seconds is not None:
        due = _seconds_from(place.seconds, names, now)
    elif place.until is not None:
        due = _time_of(place.until, names)
    else:
        due = TaskFailed("unsupported_target", "this version cannot wait for a signal")
    if isinstance(due, TaskFailed):
        return Plan(plan_failure(program, state, token, due, now))
    label = place.wait.label if place.wait is not None else None
    return Plan([WaitForTimer(token.id, token.node, now, max(due, now), label, missing)])


def _seconds_from(expression: Expression, names: JsonObject, now: int) -> int | TaskFailed:
    value = expression.evaluate(names)
    if isinstance(value, Failed):
        return _expression_failure("wait.seconds", value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        shown = f"nothing is at {value.path}" if isinstance(value, Missing) else f"it is {value!r}"
        return TaskFailed("bad_wait", f"wait.seconds must give a number, 0 or more: {shown}")
    return now + round(value * 1000)


def _time_of(expression: Expression, names: JsonObject) -> int | TaskFailed:
    value = expression.evaluate(names)
    if isinstance(value, Failed):
        return _expression_failure("wait.until", value)
    try:
        when = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        when = None
    if when is None or when.tzinfo is None:
        return TaskFailed("bad_wait", f"wait.until must give an RFC 3339 time with a zone, and gives {value!r}")
    return round(when.timestamp() * 1000)


def plan_success(
    program: Program, state: RunState, token: Token, result: Json, now: int, missing: tuple[str, ...] = ()
) -> Plan:
    """The node succeeded: map its output, then look for the way on. `missing`: paths its input mapping did not find."""
    place = program.places[token.node]
    if place.output_mapping is None:
        writes = default_writes(place, token, result)
    else:
        found = mapped(place.output_mapping, scope_of(program, state, token, result))
        if isinstance(found, Failed):
            return Plan(plan_failure(program, state, token, _expression_failure("output_mapping", found), now))
        writes, missing = found[0], (*missing, *found[1])
    if token.slot is None and writes:
        problem = state_problem(program, state, writes)
        if problem is not None:
            return Plan(plan_failure(program, state, token, TaskFailed("state_invalid", problem), now))
    return Plan([FinishNode(token.id, token.node, _work(token), writes, missing)], NodeFinished(token.id, result))


def _work(token: Token) -> Literal["task", "timer"] | None:
    match token.phase:
        case Dispatched() | Executing():
            return "task"
        case WaitingForTimer():
            return "timer"
        case _:
            return None


def plan_onward(program: Program, state: RunState, token: Token, result: Json, now: int) -> list[Decision]:
    """Route a token whose node finished and whose output is written."""
    place = program.places[token.node]
    if not place.tiers:
        return [RouteToken(token.id, token.node, "completed")]
    names = scope_of(program, state, token, result)
    choice = choose(place.tiers, token.loops, names, place.node.fan_out == "first_match")
    if isinstance(choice, RunError):
        return end_run(state, now, "failed", _at(choice, token), failing=token)
    if not choice.matches:
        if program.workflow.on_no_match == "complete":
            return [RouteToken(token.id, token.node, "completed", choice.considered)]
        error = no_match(program, place, token, choice, names)
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
    """A task failed: once more if it asked for it and may, else it is the node's failure."""
    task = program.places[token.node].task
    policy = task.retry if task is not None else None
    if policy is not None and may_retry(policy, token.attempt, failure) and not token.abandoned:
        due = now + retry_delay_ms(policy, token.attempt, state.head.run, token.id)
        return [RetryToken(token.id, token.node, now, due, token.attempt + 1, failure)]
    return plan_failure(program, state, token, failure, now)


def timeout_ms(program: Program, token: Token) -> int:
    """How long one attempt of the token's task may take."""
    task = program.places[token.node].task
    return DEFAULT_TASK_TIMEOUT_MS if task is None else task.timeout_ms
