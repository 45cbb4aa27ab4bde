"""Tasks and their steps: plain data into the model."""

import msgspec

from jeton.definitions.read.action import read_action_or_name, read_retry
from jeton.definitions.read.fields import Fields, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, shown
from jeton.model.definition.task import DEFAULT_TASK_TIMEOUT_MS, Action, Step, StepCondition, Task
from jeton.model.json import Json

TASK_KEYS = ("steps", "input_schema", "output_schema", "timeout_ms", "retry", "description", "tags")
STEP_KEYS = ("ref", "action", "input_mapping", "output_mapping", "on_failure", "condition")


class TaskSource(msgspec.Struct, frozen=True):
    """A task and its location. A node's `action:` is a task with one step, at the location of the action."""

    task: Task
    location: SourceLocation
    is_action: bool = False

    def step(self, index: int) -> SourceLocation:
        return self.location if self.is_action else self.location / "steps" / index

    def action(self, index: int) -> SourceLocation:
        return self.location if self.is_action else self.step(index) / "action"


def read_task(value: Json, location: SourceLocation, report: Report) -> Task:
    """Read a task. If it cannot be read, the result has no steps."""
    fields = fields_of(value, location, report, TASK_KEYS, "a task")
    if fields is None:
        return Task(())
    fields.require("steps")
    written = fields.list("steps") or []
    if "steps" in fields and fields.value("steps") == []:
        report.error(fields.location("steps"), "missing_key", "has no step, so it does nothing", "add a step")
    steps = tuple(_step(step, fields.location("steps") / index, report, index) for index, step in enumerate(written))
    _check_refs(steps, fields.location("steps"), report)
    return Task(
        steps=steps,
        input_schema=fields.schema("input_schema"),
        output_schema=fields.schema("output_schema"),
        timeout_ms=fields.count("timeout_ms") or DEFAULT_TASK_TIMEOUT_MS,
        retry=read_retry(fields, "retry"),
        description=fields.text("description"),
        tags=fields.texts("tags"),
    )


def one_step_task(action: str | Action, node: str) -> Task:
    """The task of a node's `action:`. Its step has the node's name, which errors then show."""
    return Task((Step(action, ref=node),), of_action=True)


def _step(value: Json, location: SourceLocation, report: Report, index: int) -> Step:
    fields = fields_of(value, location, report, STEP_KEYS, "a step")
    if fields is None:
        return Step(Action(""), ref=f"step{index}")
    fields.require("action")
    action: str | Action = Action("")
    if "action" in fields:
        action = read_action_or_name(fields.value("action"), fields.location("action"), report)
    return Step(
        action=action,
        ref=fields.name("ref") or f"step{index}",  # an error must be able to name the step
        input_mapping=fields.object("input_mapping"),
        output_mapping=fields.object("output_mapping"),
        on_failure=fields.choice("on_failure", "abort", "retry", "continue"),
        condition=_condition(fields),
    )


def _condition(fields: Fields) -> StepCondition | None:
    inner = fields.inner("condition", ("if", "then", "else"), "a step's condition")
    if inner is None:
        return None
    inner.require("if")
    test = inner.value("if", True)
    if not isinstance(test, str | bool):
        inner.wrong("if", "an expression")
    return StepCondition(
        test=test,
        then=inner.choice("then", "continue", "skip", "succeed", "fail"),
        otherwise=inner.choice("else", "skip", "continue", "succeed", "fail"),
    )


def _check_refs(steps: tuple[Step, ...], location: SourceLocation, report: Report) -> None:
    seen: dict[str, int] = {}
    for index, step in enumerate(steps):
        first = seen.setdefault(step.ref, index)
        if first != index:
            problem = f"step {first} is called {shown(step.ref)} too"
            report.error(location / index / "ref", "duplicate_name", problem, "give it another name")


def read_task_or_name(value: Json, location: SourceLocation, report: Report) -> str | Task:
    """Read a task given by name or inline."""
    return value if isinstance(value, str) else read_task(value, location, report)
