"""Run the steps of a task in order, and handle those that fail.

The `state` and `output` of a task are in memory only, and only the output is returned.
"""

from typing import Literal, TypeAlias

import msgspec

from jeton.executor.action import ActionFailed, Resources
from jeton.executor.call import TaskCall
from jeton.executor.clock import TimedOut
from jeton.executor.task.compile import CompiledStep, CompiledTask
from jeton.executor.task.context import TaskContext
from jeton.executor.task.notes import NO_NOTES, NoteLimiter
from jeton.executor.task.run_action import action_call, run_action
from jeton.expression import Expression, Failed, Missing
from jeton.expression.counts import NotACount, count_of
from jeton.expression.mapping import CompiledMapping, build_tree, evaluate_mapping, failure_text
from jeton.model.definition.task import AsksInput, Suspended
from jeton.model.failure import TaskFailed
from jeton.model.json import Json
from jeton.model.paths import written
from jeton.model.preview import encoded, fitted

MAX_STACK_LENGTH = 8_000  # applied after secrets were redacted, or part of one could remain

TaskResult: TypeAlias = Json | TaskFailed | Suspended | AsksInput


async def run_task(
    call: TaskCall, task: CompiledTask, resources: Resources, notes: NoteLimiter = NO_NOTES
) -> TaskResult:
    """The output of the task, its failure, its sleep or its question. Waits only where an action or a delay does."""
    context = TaskContext(call, resources, notes)
    if task.lane == "instant":
        result = await _run_steps(task, context)
    else:
        timeout = task.timeout_ms
        if isinstance(timeout, Expression):
            found = count_of("timeout_ms", timeout, {"input": call.input, "run": call.facts})
            if isinstance(found, NotACount):
                return TaskFailed(found.type, found.message)
            timeout = found
        try:
            result = await resources.clock.within(timeout, _run_steps(task, context))
        except TimedOut:
            return TaskFailed("timed_out", f"the task took longer than {timeout} ms", context.step)
    if task.max_result_bytes is None or isinstance(result, TaskFailed | Suspended | AsksInput):
        return result
    return await _fitted(call, result, task.max_result_bytes, resources)


async def _fitted(call: TaskCall, result: Json, most: int, resources: Resources) -> Json:
    """A result that is too large as a preview, and the whole of it as an artifact."""
    if fitted(result, most) is result:
        return result
    media_type = "text/plain" if isinstance(result, str) else "application/json"
    reference = await resources.artifacts.write(call.run, encoded(result), media_type)
    return fitted(result, most, {"artifact": msgspec.to_builtins(reference)})


async def _run_steps(task: CompiledTask, context: TaskContext) -> TaskResult:
    if task.of_action:  # the result of the action is that of the task, as the action gave it
        step = task.steps[0]
        context.step = step.ref
        call = action_call(step.action, context.call.input, step.ref, context, alone=True)
        result = call if type(call) is ActionFailed else await run_action(step.action, call)
        return _task_failed(step, result, retry=False) if type(result) is ActionFailed else result
    problem = None if task.input_validator is None else task.input_validator.problem(context.call.input, "input")
    if problem is not None:
        return TaskFailed("input_invalid", problem)
    for step in task.steps:
        context.step = step.ref
        decision = "continue" if step.condition is None else _decide(step, step.condition, context)
        if decision == "skip":
            continue
        if decision == "succeed":
            break
        failed = await _run_step(step, context, len(task.steps) == 1) if decision == "continue" else decision
        if failed is None:
            continue
        if isinstance(failed, Suspended | AsksInput):
            return failed
        if failed.fatal or step.on_failure != "continue":
            return _task_failed(step, failed, retry=step.on_failure == "retry" and not failed.fatal)
        context.record(step.ref, failed)
    problem = None if task.output_validator is None else task.output_validator.problem(context.output, "output")
    return context.output if problem is None else TaskFailed("output_invalid", problem, retry=True)


def _task_failed(step: CompiledStep, failed: ActionFailed, *, retry: bool) -> TaskFailed:
    stack = None if failed.stack is None else failed.stack[-MAX_STACK_LENGTH:]
    return TaskFailed(failed.type, failed.message, step.ref or None, failed.transient, retry, stack, failed.calls)


def _decide(
    step: CompiledStep, condition: Expression, context: TaskContext
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
    step: CompiledStep, context: TaskContext, alone: bool
) -> ActionFailed | Suspended | AsksInput | None:
    given = context.call.input
    if step.input_mapping is not None:
        found = evaluate_mapping(step.input_mapping, context.scope())
        if isinstance(found, Failed):
            return _expression_error("input_mapping", found)
        values, missing = found
        context.note_missing(step.ref, missing)
        given = build_tree(values)
    call = action_call(step.action, given, step.ref, context, alone=alone)
    result = call if type(call) is ActionFailed else await run_action(step.action, call)
    if type(result) is ActionFailed or type(result) is Suspended or type(result) is AsksInput:
        return result
    if step.output_mapping is None:
        context.output = written(context.output, [], result)
        return None
    return _write(step.ref, step.output_mapping, context, result)


def _write(step: str, mapping: CompiledMapping, context: TaskContext, result: Json) -> ActionFailed | None:
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
