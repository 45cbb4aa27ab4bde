"""Compile a task: look up its actions, and compile expressions and schemas."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem, LaneName
from jeton.executor.actions import find_kind, read_kind
from jeton.executor.call import NO_MEMORIES, NO_PROFILES
from jeton.executor.limits.limiter import ActionLimits
from jeton.executor.python.functions import FunctionMissing
from jeton.executor.python.transient import is_transient
from jeton.executor.task.attempt import as_it_is, surrounded
from jeton.expression import Expression
from jeton.expression.counts import Count, compile_count
from jeton.expression.mapping import TASK_VARIABLES, TIMEOUT_VARIABLES, CompiledMapping, compile_mapping, compile_value
from jeton.expression.schema import SchemaValidator, compile_schema
from jeton.model.chat import ToolSpec
from jeton.model.codes import FailureType
from jeton.model.definition.agent import MemoryPolicy, Prompt
from jeton.model.definition.profile import ModelProfile
from jeton.model.definition.task import (
    Action,
    Execution,
    Idempotency,
    RetryPolicy,
    Step,
    StepOutcome,
    Task,
)
from jeton.model.definition.tool_spec import tool_spec
from jeton.model.definition.workflow import Library, memory_policies
from jeton.model.json import Json, JsonObject
from jeton.model.reference import name_of

_canonical = msgspec.json.Encoder(order="deterministic").encode

NO_RETRY = RetryPolicy()
LANES: tuple[LaneName, ...] = ("instant", "loop", "thread", "process")


class CompiledIdempotencyKey(msgspec.Struct, frozen=True):
    """The idempotency key of an action: the value of an expression, below the name of the action."""

    name: str
    expression: Expression
    ttl_ms: int | None


class CompiledAction(msgspec.Struct, frozen=True):
    """An action with its handler and schemas.

    `attempt` is the handler inside what `surround` puts around it: a timeout, a circuit breaker and limits."""

    handler: ActionHandler
    attempt: ActionHandler
    lane: LaneName
    policy: RetryPolicy
    timeout_ms: Count | None
    input_validator: SchemaValidator | None
    output_validator: SchemaValidator | None
    is_transient: Callable[[BaseException], bool] = is_transient
    settings: JsonObject = {}  # project.settings
    has_secrets: bool = False
    profiles: Mapping[str, ModelProfile] = NO_PROFILES  # of the project
    prompts: Mapping[str, Prompt] = {}
    tools: Mapping[str, ToolSpec] = {}
    memories: Mapping[str, MemoryPolicy] = NO_MEMORIES  # of its agents
    idempotency: CompiledIdempotencyKey | None = None
    surround: Callable[[ActionHandler], ActionHandler] = as_it_is

    def handled_by(self, handler: ActionHandler) -> "CompiledAction":
        """The same action with another handler."""
        return msgspec.structs.replace(self, handler=handler, attempt=self.surround(handler))


class CompiledStep(msgspec.Struct, frozen=True):
    """A step with its action and compiled expressions."""

    ref: str
    action: CompiledAction
    on_failure: str
    condition: Expression | None
    then: StepOutcome
    otherwise: StepOutcome
    input_mapping: CompiledMapping | None
    output_mapping: CompiledMapping | None


class CompiledTask(msgspec.Struct, frozen=True):
    """A task with its compiled steps. Its lane is that of its most demanding step."""

    steps: tuple[CompiledStep, ...]
    timeout_ms: Count
    lane: LaneName
    input_validator: SchemaValidator | None
    output_validator: SchemaValidator | None
    of_action: bool = False  # its result is that of its only step
    max_result_bytes: int | None = None  # a larger result is stored as an artifact


def compile_task(task: Task, library: Library) -> CompiledTask:
    """Compile a checked task. Actions given by name are taken from the library."""
    steps = tuple(_step(index, step, library) for index, step in enumerate(task.steps))
    least = 0 if task.max_result_bytes is None else LANES.index("loop")  # writing an artifact waits
    return CompiledTask(
        steps=steps,
        timeout_ms=compile_count(task.timeout_ms, TIMEOUT_VARIABLES),
        lane=LANES[max((least, *(LANES.index(step.action.lane) for step in steps)))],
        input_validator=compile_schema(task.input_schema),
        output_validator=compile_schema(task.output_schema),
        of_action=task.of_action,
        max_result_bytes=task.max_result_bytes,
    )


def failing_task(failure: FailureType, message: str) -> CompiledTask:
    """A task that fails when it is run, because it cannot be compiled."""
    step = CompiledStep("", _failing(failure, message), "abort", None, "continue", "skip", None, None)
    return CompiledTask((step,), 0, "instant", None, None)


def missing_function(task: Task, library: Library) -> str | None:
    """Name a function that the task needs and this process lacks; None if nothing is missing."""
    for action in _actions(task, library):
        kind = find_kind(action.kind)
        found = None if kind is None else read_kind(kind, action.implementation)
        missing = found.missing() if isinstance(found, Kind) else None
        if missing is not None:
            return missing
    return None


def named_action(name: str, library: Library) -> Action | None:
    """An action of a bundle. `name@3` and `name` are the same, because a bundle has one version of each."""
    return library.actions.get(name) or library.actions.get(name_of(name))


def _actions(task: Task, library: Library) -> Iterator[Action]:
    for step in task.steps:
        action = named_action(step.action, library) if isinstance(step.action, str) else step.action
        if action is not None:
            yield action


def _step(index: int, step: Step, library: Library) -> CompiledStep:
    condition = step.condition
    return CompiledStep(
        ref=step.ref or str(index),
        action=_action(step.action, library),
        on_failure=step.on_failure,
        condition=None if condition is None else compile_value(condition.test, TASK_VARIABLES),
        then="continue" if condition is None else condition.then,
        otherwise="skip" if condition is None else condition.otherwise,
        input_mapping=None if step.input_mapping is None else compile_mapping(step.input_mapping, TASK_VARIABLES),
        output_mapping=None
        if step.output_mapping is None
        else compile_mapping(step.output_mapping, (*TASK_VARIABLES, "result")),
    )


def _action(reference: str | Action, library: Library) -> CompiledAction:
    action = named_action(reference, library) if isinstance(reference, str) else reference
    if action is None:
        return _failing("unknown_action", f"there is no action called '{reference}'")
    kind = find_kind(action.kind)
    if kind is None:
        return _failing("unknown_kind", f"there is no action kind '{action.kind}'")
    found = read_kind(kind, action.implementation)
    if isinstance(found, KindProblem):
        return _failing("bad_implementation", f"{action.kind}: {found.path} {found.problem}")
    try:
        handler = found.isolate() if action.isolation == "process" else found.prepare()
        if handler is None:
            return _failing(
                "unsupported_isolation", f"an action of the kind '{action.kind}' cannot run in a process of its own"
            )
        return _compiled(_name(reference, action), action, found, handler, library)
    except FunctionMissing as missing:
        return _failing("function_missing", f"there is no function {missing}")


def _compiled(name: str, action: Action, kind: Kind, handler: ActionHandler, library: Library) -> CompiledAction:
    execution = action.execution or Execution()
    policy = execution.retry_policy or NO_RETRY
    limits = _limits(name, action.kind, execution, library.settings)
    idempotency = None if action.idempotency is None else _key(name, action.idempotency)
    waits = policy.max_attempts > 1 and policy.initial_delay_ms > 0
    lane = "process" if action.isolation == "process" else kind.lane()
    if lane == "instant" and (waits or limits or idempotency or execution.circuit_breaker):
        lane = "loop"
    surround = partial(
        surrounded,
        timed=execution.timeout_ms is not None and lane != "instant",
        breaker=None if execution.circuit_breaker is None else (name, execution.circuit_breaker),
        limits=limits,
        is_transient=kind.is_transient,
    )
    return CompiledAction(
        handler=handler,
        attempt=surround(handler),
        lane=lane,
        policy=policy,
        timeout_ms=None if execution.timeout_ms is None else compile_count(execution.timeout_ms, TIMEOUT_VARIABLES),
        # a node converts its inputs one by one, and says which is missing
        input_validator=None if action.kind == "node" else compile_schema(action.input_schema),
        output_validator=compile_schema(action.output_schema),
        is_transient=kind.is_transient,
        settings=library.settings,
        has_secrets=bool(library.settings.get("secrets")),
        profiles=library.model_profiles,
        prompts=library.prompts,
        tools={name: tool_spec(tool, library) for name, tool in library.tools.items()} if action.kind == "llm" else {},
        memories=memory_policies(library),
        idempotency=idempotency,
        surround=surround,
    )


def _name(reference: str | Action, action: Action) -> str:
    """The name that limits and keys use: that of the action without its version, or a hash of an inline action."""
    if isinstance(reference, str):
        return name_of(reference)
    return f"{action.kind}:{hashlib.sha256(_canonical(action.implementation)).hexdigest()}"


def _limits(name: str, kind: str, execution: Execution, settings: JsonObject) -> ActionLimits | None:
    of_kinds = settings.get("concurrency")
    of_kind = of_kinds.get(kind) if isinstance(of_kinds, dict) else None
    places = of_kind if isinstance(of_kind, int) and of_kind > 0 else None
    if execution.concurrency is None and execution.rate_per_s is None and places is None:
        return None
    return ActionLimits(name, kind, execution.concurrency, execution.rate_per_s, places)


def _key(name: str, idempotency: Idempotency) -> CompiledIdempotencyKey:
    return CompiledIdempotencyKey(name, compile_value(idempotency.key, TASK_VARIABLES), idempotency.ttl_ms)


def _failing(failure: FailureType, message: str) -> CompiledAction:
    """An action that fails when its step is reached, because it cannot be compiled."""
    failed = ActionFailed(failure, message, fatal=True)

    async def handler(call: ActionCall) -> Json | ActionFailed:
        return failed

    return CompiledAction(handler, handler, "instant", NO_RETRY, None, None, None)
