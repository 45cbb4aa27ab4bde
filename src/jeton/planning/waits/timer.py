"""Timed waits."""

from jeton.expression import Expression, Failed, Missing
from jeton.model.decision import WaitForTimer
from jeton.model.failure import BrokenInvariant, TaskFailed
from jeton.model.json import JsonObject
from jeton.model.state.run import RunState, Token
from jeton.model.times import time_in
from jeton.planning.flow.control_keys import LONGEST_WAIT_S
from jeton.planning.program.workflow import CompiledNode, Program
from jeton.planning.tokens.failure import plan_failure
from jeton.planning.tokens.node import Plan, expression_failure
from jeton.planning.tokens.scope import scope_of


def plan_wait(
    program: Program, state: RunState, token: Token, node: CompiledNode, missing: tuple[str, ...], now: int
) -> Plan:
    """Wait for a length of time, or until a point in time, which may have passed already."""
    due: int | TaskFailed
    if node.seconds is not None:
        names = scope_of(program, state, token) if node.seconds.roots else {}  # most lengths are plain numbers
        due = _seconds_from(node.seconds, names, now)
    elif node.until is not None:
        due = _time_of(node.until, scope_of(program, state, token))
    else:
        raise BrokenInvariant("a timed wait has neither seconds nor until", node=token.node)
    if isinstance(due, TaskFailed):
        return Plan(plan_failure(program, state, token, due, now))
    label = node.wait.label if node.wait is not None else None
    return Plan([WaitForTimer(token.id, token.node, now, due, label, missing, wall=node.seconds is None)])


def _seconds_from(expression: Expression, names: JsonObject, now: int) -> int | TaskFailed:
    value = expression.evaluate(names)
    if isinstance(value, Failed):
        return expression_failure("wait.seconds", value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LONGEST_WAIT_S:
        shown = f"nothing is at {value.path}" if isinstance(value, Missing) else f"it is {value!r}"
        return TaskFailed("bad_wait", f"wait.seconds must give a number from 0 to a hundred years: {shown}")
    return now + round(value * 1000)


def _time_of(expression: Expression, names: JsonObject) -> int | TaskFailed:
    value = expression.evaluate(names)
    if isinstance(value, Failed):
        return expression_failure("wait.until", value)
    when = time_in(value) if isinstance(value, str) else None
    if when is None or when.tzinfo is None:
        return TaskFailed("bad_wait", f"wait.until must give an RFC 3339 time with a zone, and gives {value!r}")
    return round(when.timestamp() * 1000)
