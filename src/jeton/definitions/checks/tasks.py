"""Checks of tasks: the expressions of steps, and their mappings against the schemas of actions."""

from jeton.definitions.checks.compiled import CONTEXT, CompiledExpressions, compile_expressions, compile_one
from jeton.definitions.checks.definitions import Definitions
from jeton.definitions.checks.expressions import check_count, check_gives, check_mapping
from jeton.definitions.checks.mappings import check_missing, check_passed_on, check_target_path, check_value
from jeton.definitions.checks.types import RUN, UNKNOWN, Types, mapped_type
from jeton.definitions.library import LibrarySource
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.task import TaskSource
from jeton.definitions.report import Report
from jeton.model.definition.task import Action, Step
from jeton.model.json import Schema

SECTIONS = ("state", "output")
TIMEOUT = frozenset(("input", "run"))


def check_tasks(source: LibrarySource, definitions: Definitions, report: Report) -> None:
    """Check every task, named or inline, and every named action."""
    for action in source.actions.values():
        types = {"input": action.action.input_schema or UNKNOWN, "state": UNKNOWN, "output": UNKNOWN, "run": RUN}
        _check_action(action.action, types, action.location, report)
    for task in source.all_tasks():
        seen = {"input": task.task.input_schema or UNKNOWN, "run": RUN}
        _check_timeout(task.task.timeout_ms, seen, task.location / "timeout_ms", report)
        for index in range(len(task.task.steps)):
            _check_step(task, index, definitions, report)


def _check_step(source: TaskSource, index: int, definitions: Definitions, report: Report) -> None:
    task, step, location = source.task, source.task.steps[index], source.step(index)
    output = task.output_schema or UNKNOWN
    seen: Types = {"input": task.input_schema or UNKNOWN, "state": UNKNOWN, "output": output, "run": RUN}
    action = definitions.action(step.action)
    given = compile_expressions(step.input_mapping, CONTEXT, location / "input_mapping", report)
    check_mapping(given, seen, location / "input_mapping", report)
    _check_condition(step, seen, location, report)
    if action is not None:
        _check_input(step, given, action, seen, location, report)
    if isinstance(step.action, Action):
        action_input = seen["input"] if step.input_mapping is None else mapped_type(given, seen)
        _check_action(step.action, {**seen, "input": action_input}, source.action(index), report)
    result = UNKNOWN if action is None else action.output_schema or UNKNOWN
    _check_output(step, {**seen, "result": result}, task.output_schema, location / "output_mapping", report)


def _check_condition(step: Step, seen: Types, location: SourceLocation, report: Report) -> None:
    if step.condition is not None:
        at = location / "condition" / "if"
        test = compile_one(step.condition.test, CONTEXT, at, report)
        if test is not None:
            check_gives(test, "bool", seen, at, report)


def _check_input(
    step: Step, given: CompiledExpressions, action: Action, seen: Types, location: SourceLocation, report: Report
) -> None:
    if action.input_schema is None:
        return
    if step.input_mapping is None:
        check_passed_on(seen["input"], action.input_schema, "the task's input", "the action", location, report)
        return
    check_missing(action.input_schema, step.input_mapping, "the action", location / "input_mapping", report)
    for target, expression in given.items():
        at = location / "input_mapping" / target
        check_value(expression, seen, action.input_schema, target.split("."), "the action's input", at, report)


def _check_output(step: Step, seen: Types, output: Schema | None, location: SourceLocation, report: Report) -> None:
    mapping = compile_expressions(step.output_mapping, CONTEXT | {"result"}, location, report)
    check_mapping(mapping, seen, location, report)
    for target in step.output_mapping or {}:
        section = check_target_path(target, SECTIONS, location / target, report)
        if section == "output" and output is not None and target in mapping:
            keys = target.split(".")[1:]
            check_value(mapping[target], seen, output, keys, "the task's output", location / target, report)


def _check_action(action: Action, seen: Types, location: SourceLocation, report: Report) -> None:
    """Check the expressions of an action itself."""
    implementation = location / "implementation"
    if action.kind == "context":
        written = action.implementation.get("set")
        mapping = compile_expressions(
            written if isinstance(written, dict) else {}, CONTEXT, implementation / "set", report
        )
        check_mapping(mapping, seen, implementation / "set", report)
    if action.kind == "assert" and isinstance(action.implementation.get("that"), str):
        that = compile_one(action.implementation["that"], CONTEXT, implementation / "that", report)
        if that is not None:
            check_gives(that, "bool", seen, implementation / "that", report)
    if action.execution is not None:
        task_input = {"run": RUN}  # the input of the task, which is unknown here
        _check_timeout(action.execution.timeout_ms, task_input, location / "execution" / "timeout_ms", report)
    if action.idempotency is not None:
        at = location / "idempotency" / "key"
        key = compile_one(action.idempotency.key, CONTEXT, at, report)
        if key is not None:
            check_mapping({"key": key}, seen, location / "idempotency", report)


def _check_timeout(written: int | str | None, seen: Types, location: SourceLocation, report: Report) -> None:
    """Check a timeout inside a task. It reads the task's input, and the run."""
    if isinstance(written, str):
        timeout = compile_one(written, TIMEOUT, location, report)
        if timeout is not None:
            check_gives(timeout, "int", seen, location, report)
            check_count(timeout, location, report)
