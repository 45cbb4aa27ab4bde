"""Run the steps of a task in order, and handle those that fail.

The `state` and `output` of a task are in memory only, and only the output is returned.
"""

from typing import Literal, TypeAlias

from jeton.executor.action import ActionFailed, Resources
from jeton.executor.call import TaskCall
from jeton.executor.clock import TimedOut
from jeton.executor.task.compile import CompiledStep, CompiledTask
from jeton.executor.task.notes import NO_NOTES, NoteLimiter
from jeton.executor.task.run_action import run_action
from jeton.expression import Expression, Failed, Missing
from jeton.expression.counts import NotACount, count_of
from jeton.expression.mapping import CompiledMapping, build_tree, evaluate_mapping, failure_text
from jeton.model.definition.task import Suspended
from jeton.model.failure import TaskFailed
from jeton.model.json import Json, JsonObject
from jeton.model.note import MissingNote
from jeton.model.paths import written

MAX_STACK_LENGTH = 8_000  # applied after secrets were redacted, or part of one could remain

TaskResult: TypeAlias = Json | TaskFailed | Suspended


async def run_task(
    call: TaskCall, task: CompiledTask, resources: Resources, notes: NoteLimiter = NO_NOTES
) -> TaskResult:
    """The output of the task, its failure, or its suspension. Waits only where an action or a delay does."""
    context = _Context(call.input, call.facts, notes)
    if task.lane == "instant":
        return await _run_steps(call, task, context, resources)
    timeout = task.timeout_ms
    if isinstance(timeout, Expression):
        found = count_of("timeout_ms", timeout, {"input": call.input, "run": call.facts})
        if isinstance(found, NotACount):
            return TaskFailed(found.type, found.message)
        timeout = found
    try:
        return await resources.clock.within(timeout, _run_steps(call, task, context, resources))
    except TimedOut:
        return TaskFailed("timed_out", f"the task took longer than {timeout} ms", context.step)


class _Context:
    """The data that the steps of one attempt share."""

    __slots__ = ("input", "notes", "output", "run", "state", "step")

    def __init__(self, given: Json, run: JsonObject, notes: NoteLimiter) -> None:
        self.input, self.run = given, run
        self.notes = notes
        self.state: JsonObject = {}
        self.output: JsonObject = {}
        self.step: str | None = None

    def scope(self) -> JsonObject:
        return {"input": self.input, "state": self.state, "output": self.output, "run": self.run}

    def note_missing(self, step: str, paths: tuple[str, ...]) -> None:
        if paths:
            self.notes.add(MissingNote(step, paths))

    def record(self, step: str, failed: ActionFailed) -> None:
        """Add a failure that the task continues after to `state._errors`."""
        before = self.state.get("_errors")
        error: JsonObject = {"step": step, "type": failed.type, "message": failed.message}
        self.state = {**self.state, "_errors": [*(before if isinstance(before, list) else []), error]}


async def _run_steps(call: TaskCall, task: CompiledTask, context: _Context, resources: Resources) -> TaskResult:
    if task.of_action:
        return await _run_only_action(call, task.steps[0], context, resources)
    problem = None if task.input_validator is None else task.input_validator.problem(call.input, "input")
    if problem is not None:
        return TaskFailed("input_invalid", problem)
    for step in task.steps:
        context.step = step.ref
        decision = "continue" if step.condition is None else _decide(step, step.condition, context)
        if decision == "skip":
            continue
        if decision == "succeed":
            break
        alone = len(task.steps) == 1
        failed = await _run_step(call, step, context, resources, alone) if decision == "continue" else decision
        if failed is None:
            continue
        if isinstance(failed, Suspended):
            return failed
        if failed.fatal or step.on_failure != "continue":
            return _task_failed(step, failed, retry=step.on_failure == "retry" and not failed.fatal)
        context.record(step.ref, failed)
    problem = None if task.output_validator is None else task.output_validator.problem(context.output, "output")
    return context.output if problem is None else TaskFailed("output_invalid", problem, retry=True)


async def _run_only_action(call: TaskCall, step: CompiledStep, context: _Context, resources: Resources) -> TaskResult:
    """The result of the action that is the whole task, as the action gave it."""
    context.step = step.ref
    result = await run_action(step.action, call.input, {}, {}, call, step.ref, resources, context.notes, alone=True)
    return _task_failed(step, result, retry=False) if type(result) is ActionFailed else result


def _task_failed(step: CompiledStep, failed: ActionFailed, *, retry: bool) -> TaskFailed:
    stack = None if failed.stack is None else failed.stack[-MAX_STACK_LENGTH:]
    return TaskFailed(failed.type, failed.message, step.ref or None, failed.transient, retry, stack, failed.calls)


def _decide(
    step: CompiledStep, condition: Expression, context: _Context
) -> Literal["continue", "skip", "succeed"] | ActionFailed:
    """What the condition of a step decides. `fail` fails the step, so that its `on_failure` applies."""
    holds = condition.holds(context.scope())
    if isinstance(holds, Failed):
        return _expression_error("condition.if", holds)
    if isinstance(holds, Missing):
        holds = False
    outcome = step.then if holds else step.otherwise
    if outcome == "fail":
        return ActionFailed("condition_failed", f"{condition.source} is {str(holds).lower()}")
    return outcome


async def _run_step(
    call: TaskCall, step: CompiledStep, context: _Context, resources: Resources, alone: bool
) -> ActionFailed | Suspended | None:
    given = context.input
    if step.input_mapping is not None:
        found = evaluate_mapping(step.input_mapping, context.scope())
        if isinstance(found, Failed):
            return _expression_error("input_mapping", found)
        values, missing = found
        context.note_missing(step.ref, missing)
        given = build_tree(values)
    result = await run_action(
        step.action, given, context.state, context.output, call, step.ref, resources, context.notes, alone=alone
    )
    if type(result) is ActionFailed or type(result) is Suspended:
        return result
    if step.output_mapping is None:
        context.output = written(context.output, [], result)
        return None
    return _write(step.ref, step.output_mapping, context, result)


def _write(step: str, mapping: CompiledMapping, context: _Context, result: Json) -> ActionFailed | None:
    """Write the output of a step. All values are evaluated before the first is written."""
    found = evaluate_mapping(mapping, {**context.scope(), "result": result})
    if isinstance(found, Failed):
        return _expression_error("output_mapping", found)
    values, missing = found
    context.note_missing(step, missing)
    for target, value in values.items():
        section, *keys = target.split(".")
        if section == "state":
            context.state = written(context.state, keys, value)
        else:
            context.output = written(context.output, keys, value)
    return None


def _expression_error(where: str, failed: Failed) -> ActionFailed:
    return ActionFailed("expression_error", failure_text(where, failed), fatal=True)
