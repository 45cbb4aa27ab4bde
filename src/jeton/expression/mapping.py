"""Mappings: targets and the expressions that give their values, compiled once and evaluated together."""

from collections.abc import Collection, Mapping
from typing import TypeAlias

from jeton.expression.expression import Expression, compile_expression, literal
from jeton.expression.values import EvaluationResult, Failed, Missing
from jeton.model.json import Json, JsonObject
from jeton.model.paths import written

CompiledMapping: TypeAlias = tuple[tuple[str, Expression], ...]
"""Each target, a path such as `state.votes.total`, and the expression that gives its value."""

TASK_VARIABLES = ("input", "state", "output", "run")
"""What the expressions of a task and of its actions may read."""

TIMEOUT_VARIABLES = ("input", "run")
"""What the timeouts of runs, tasks and actions may read: the run's or the task's input, and the run."""

_SECTIONS = ("state", "output")


def compile_value(source: Json, variables: Collection[str]) -> Expression:
    """An expression if the source is a string; any other value stands for itself."""
    return compile_expression(source, variables) if isinstance(source, str) else literal(source)


def compile_mapping(mapping: Mapping[str, Json], variables: Collection[str]) -> CompiledMapping:
    """Compile the source of every target."""
    return tuple((target, compile_value(source, variables)) for target, source in mapping.items())


def evaluate_mapping(mapping: CompiledMapping, scope: JsonObject) -> tuple[JsonObject, tuple[str, ...]] | Failed:
    """The value of each target, and the paths that were missing, which give null. Any other problem fails them all."""
    values: JsonObject = {}
    missing: tuple[str, ...] = ()
    for target, expression in mapping:
        value = evaluate_copied(expression, scope) if expression.whole else expression.evaluate(scope)
        if type(value) is Missing:
            missing = (*missing, value.path)
            values[target] = None
        elif type(value) is Failed:
            return value
        else:
            values[target] = value
    return values, missing


def evaluate_copied(expression: Expression, scope: JsonObject) -> EvaluationResult:
    """The value, safe to keep: an expression that gives a whole section gives a copy, because sections change."""
    if expression.whole and not expression.whole.isdisjoint(_SECTIONS):
        scope = {**scope, **{name: _copy(scope[name]) for name in _SECTIONS}}
    return expression.evaluate(scope)


def build_tree(values: Mapping[str, Json]) -> JsonObject:
    """The object that the targets of a mapping describe: `{"a.b": 1}` is `{"a": {"b": 1}}`."""
    tree: JsonObject = {}
    for target, value in values.items():
        if "." in target:
            tree = written(tree, target.split("."), value)
        else:
            tree[target] = value
    return tree


def failure_text(where: str, failed: Failed) -> str:
    """Why there is no value, with the position in the expression and the values it read."""
    return f"{where} at {failed.position}: {failed.problem} with {failed.values}"


def _copy(section: Json) -> Json:
    return dict(section) if isinstance(section, dict) else section
