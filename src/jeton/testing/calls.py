"""Calls of actions in a simulated run: recorded, given results, or made to fail."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import msgspec

from jeton.engine.input import plain_value
from jeton.executor import CompiledTask
from jeton.executor.action import ActionCall, ActionFailed, ActionResult, failure_from
from jeton.executor.task.compile import CompiledStep, named_action
from jeton.hosts.simulated.script import Job
from jeton.hosts.simulated.tasks import RealTasks
from jeton.model.definition.task import Action, AsksInput, Step, Suspended, Task
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.json import Json
from jeton.model.reference import name_of
from jeton.testing.failures import Failing, Failures

OUTSIDE = frozenset({"file", "http", "llm", "mcp", "shell"})
"""Kinds of action that a test does not call unless it asks for it."""

GivenResult: TypeAlias = object
"""The result of an action, or a function of the action's input that gives it."""


class SimulatedCall(msgspec.Struct, frozen=True):
    """One call of an action: where, with what, and what came of it. `error` is `type: message`."""

    node: str
    action: str  # its name; the kind of an action that has none
    input: Json
    result: Json
    error: str | None
    idempotency_key: str
    call: int  # 1, and more for infrastructure retries
    run_id: str


class WatchedTasks(RealTasks):
    """Tasks that are really run, but for the calls that have results or failures of their own."""

    def __init__(
        self, results: Mapping[str, GivenResult], fail: Mapping[str, Failing], *, seed: int, outside: bool
    ) -> None:
        super().__init__({}, seed)
        self.calls: list[SimulatedCall] = []
        self._results = results
        self._failures = {name: Failures(name, given) for name, given in fail.items()}
        self._outside = outside

    async def work(self, job: Job) -> None:
        if not self._outside:
            self._check(job)
        await super().work(job)

    def _check(self, job: Job) -> None:
        """Raise Refused before a test calls something outside that it gave no result for."""
        for step in job.task.steps:
            action = named_action(step.action, job.bundle) if isinstance(step.action, str) else step.action
            names = result_names(job.call.node, job.task, step)
            if action is not None and _is_outside(action, job.bundle) and self._result(names) is None:
                problem = (
                    f"node '{job.call.node}' calls something outside ({action.kind}), and has no result in this test"
                )
                remedy = f"give one: results={{'{(*names, job.call.node)[0]}': …}}; or call it with outside=True"
                raise Refused("needs_result", problem, remedy)

    def compiled(self, job: Job) -> CompiledTask:
        found = super().compiled(job)
        steps = [self._watched(job, step, ready) for step, ready in zip(job.task.steps, found.steps, strict=True)]
        return msgspec.structs.replace(found, steps=tuple(steps))

    def _watched(self, job: Job, step: Step, ready: CompiledStep) -> CompiledStep:
        given = self._result(result_names(job.call.node, job.task, step))
        failing = [self._failures[name] for name in names_of(job.call.node, job.task, step) if name in self._failures]
        really, is_transient = ready.action.handler, ready.action.is_transient

        async def attempt(call: ActionCall) -> ActionResult:
            for each in failing:
                failure = each.of(call, is_transient)
                if failure is not None:
                    return failure
            return await really(call) if given is None else _given(given[0], call)

        async def handler(call: ActionCall) -> ActionResult:
            try:
                result = await attempt(call)
            except BaseException as error:
                self._record(action_name(step), call, failure_from(error))
                raise
            self._record(action_name(step), call, result)
            return result

        return msgspec.structs.replace(ready, action=ready.action.handled_by(handler))

    def _result(self, names: tuple[str, ...]) -> tuple[GivenResult] | None:
        return next(((self._results[name],) for name in names if name in self._results), None)

    def _record(self, action: str, call: ActionCall, result: ActionResult) -> None:
        made = call.call
        if isinstance(result, Suspended | AsksInput):
            return  # it is called again, and then recorded
        error = f"{result.type}: {result.message}" if isinstance(result, ActionFailed) else None
        value = None if isinstance(result, ActionFailed) else result
        key, number = made.idempotency_key, made.action_attempt
        self.calls.append(SimulatedCall(made.node, action, call.input, value, error, key, number, made.run))


def _is_outside(action: Action, bundle: Library) -> bool:
    """Whether a call leaves the process. A scripted model does not."""
    profile = bundle.model_profiles.get(str(action.implementation.get("model_profile")))
    is_scripted = action.kind == "llm" and profile is not None and profile.provider == "scripted"
    return action.kind in OUTSIDE and not is_scripted


def names_of(node: str, task: Task, step: Step) -> tuple[str, ...]:
    """The names that a call goes by in `fail`: its node, `node.step` if there are several, its action."""
    named = (name_of(step.action),) if isinstance(step.action, str) else ()
    of_step = (f"{node}.{step.ref}",) if len(task.steps) > 1 and step.ref else ()
    return (node, *of_step, *named)


def result_names(node: str, task: Task, step: Step) -> tuple[str, ...]:
    """The same in `results`: not the node of several steps, which have a result each."""
    return tuple(name for name in names_of(node, task, step) if name != node or len(task.steps) == 1)


def action_name(step: Step) -> str:
    """The action's name, or its kind if it has no name."""
    return step.action.kind if isinstance(step.action, Action) else name_of(step.action)


def all_names(tasks: Iterable[tuple[str, Task]], names: Callable[[str, Task, Step], tuple[str, ...]]) -> list[str]:
    """The names of all calls of these nodes, without repetition."""
    return list(dict.fromkeys(name for node, task in tasks for step in task.steps for name in names(node, task, step)))


def _given(result: Any, call: ActionCall) -> Json:
    return plain(result(call.input) if callable(result) else result)


def plain(value: object) -> Json:
    """A value of a test as plain data."""
    return plain_value(value, "value")
