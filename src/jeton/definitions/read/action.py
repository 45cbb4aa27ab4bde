"""Actions: plain data into the model, with the `implementation` of the kinds that need no executor."""

from typing import Literal

from jeton.definitions.read.fields import Fields, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.template import check_template
from jeton.definitions.report import Report, kind
from jeton.model.definition.task import Action, CircuitBreaker, Execution, Idempotency, RetryPolicy
from jeton.model.json import Json

KINDS = (
    "python", "http", "shell", "llm", "mcp", "context", "assert", "fail",
    "file", "artifact", "memory", "emit", "metric", "mock", "signal",
)  # fmt: skip
NODE_TARGETS = {"human": "gate", "gate": "gate", "workflow": "workflow", "wait": "wait", "agent": "agent"}

ACTION_KEYS = (
    "kind", "implementation", "input_schema", "output_schema", "execution", "idempotency", "isolation",
    "description", "tags",
)  # fmt: skip
EXECUTION_KEYS = ("timeout_ms", "retry_policy", "concurrency", "rate_per_s", "circuit_breaker")
MOCK_KEYS = ("output", "schema", "seed", "delay_ms", "fail")
Isolation = Literal["thread", "process"]
RETRY_KEYS = ("max_attempts", "backoff", "initial_delay_ms", "max_delay_ms")


def read_action(value: Json, location: SourceLocation, report: Report) -> Action:
    """Read an action. If it cannot be read, its kind is empty."""
    fields = fields_of(value, location, report, ACTION_KEYS, "an action")
    if fields is None:
        return Action("")
    fields.require("kind")
    action_kind = fields.text("kind") or ""
    implementation = fields.object("implementation") or {}
    if action_kind and _check_kind(action_kind, fields) and isinstance(fields.value("implementation", {}), dict):
        _check_implementation(action_kind, Fields(implementation, fields.location("implementation"), report))
    return Action(
        kind=action_kind,
        implementation=implementation,
        input_schema=fields.schema("input_schema"),
        output_schema=fields.schema("output_schema"),
        execution=_execution(fields),
        idempotency=_idempotency(fields),
        isolation=_isolation(fields, action_kind),
        description=fields.text("description"),
        tags=fields.texts("tags"),
    )


def _check_kind(action_kind: str, fields: Fields) -> bool:
    """Whether it can be an action. Whether the kind exists is checked later, because plugins add kinds."""
    if action_kind not in NODE_TARGETS:
        return True
    problem = f"'{action_kind}' is a target of a node, not an action: a worker cannot wait inside a task"
    remedy = f"give it a node of its own with '{NODE_TARGETS[action_kind]}:'"
    fields.report.error(fields.location("kind"), "node_target_in_task", problem, remedy)
    return False


def _check_implementation(action_kind: str, fields: Fields) -> None:
    """Check the implementation of `context`, `assert`, `fail` and `mock`; other kinds are checked by the executor."""
    match action_kind:
        case "context":
            _check_context(fields)
        case "assert":
            fields.only(("that", "type", "message"), "an assert")
            _check_failure(fields)
            if fields.require("that") and not isinstance(fields.value("that"), str | bool):
                fields.wrong("that", "an expression")
        case "fail":
            fields.only(("type", "message"), "a fail action").require("type")
            _check_failure(fields)
        case "mock":
            _check_mock(fields.only(MOCK_KEYS, "a mock"))
        case _:
            pass


def _check_failure(fields: Fields) -> None:
    """Check the type and the message of a failure on purpose."""
    fields.name("type")
    message = fields.text("message")
    if message is not None:
        check_template("message", message, fields.location("message"), fields.report)


def _check_context(fields: Fields) -> None:
    fields.only(("set", "validate"), "a context action")
    if ("set" in fields) == ("validate" in fields):
        problem = "needs one of 'set' and 'validate'" + (", and has both" if "set" in fields else "")
        remedy = "write 'set: {key: expression}' or 'validate: {schema: …}'"
        fields.report.error(fields.here, "wrong_type", problem, remedy)
    fields.object("set")
    validate = fields.inner("validate", ("schema",), "'validate'")
    if validate is not None and validate.require("schema"):
        validate.schema("schema")


def _check_mock(fields: Fields) -> None:
    if "output" in fields and "schema" in fields:
        problem = "has both 'output' and 'schema', and makes its result from one"
        fields.report.error(fields.here, "wrong_type", problem, "remove one of the two")
    fields.schema("schema")
    fields.integer("seed", at_least=0)
    delay = fields.value("delay_ms")
    if isinstance(delay, dict):
        _check_range(fields)
    else:
        fields.integer("delay_ms", at_least=0)
    fail = fields.inner("fail", ("times", "message", "transient"), "'fail'")
    if fail is not None:
        fail.integer("times", at_least=0)
        fail.text("message")
        fail.flag("transient", False)


def _check_range(fields: Fields) -> None:
    delay = fields.inner("delay_ms", ("min", "max"), "'delay_ms'")
    if delay is None or not delay.require("min", "max"):
        return
    least = delay.integer("min", at_least=0)
    if least is not None:
        delay.integer("max", at_least=least)


def _isolation(fields: Fields, action_kind: str) -> Isolation | None:
    if "isolation" not in fields:
        return None
    isolation: Isolation = fields.choice("isolation", "thread", "process")
    if isolation == "process" and action_kind in KINDS and action_kind != "python":
        problem = f"only a Python function can be given a process of its own, and this is '{action_kind}'"
        fields.report.error(fields.location("isolation"), "unsupported_isolation", problem, "remove it")
    return isolation


def _execution(fields: Fields) -> Execution | None:
    inner = fields.inner("execution", EXECUTION_KEYS, "'execution'")
    if inner is None:
        return None
    return Execution(
        timeout_ms=inner.count("timeout_ms"),
        retry_policy=read_retry(inner, "retry_policy"),
        concurrency=inner.integer("concurrency", at_least=1),
        rate_per_s=inner.number("rate_per_s", above=0),
        circuit_breaker=_circuit_breaker(inner),
    )


def _circuit_breaker(execution: Fields) -> CircuitBreaker | None:
    inner = execution.inner("circuit_breaker", ("failures", "cool_down_ms"), "'circuit_breaker'")
    if inner is None:
        return None
    usual = CircuitBreaker()
    return CircuitBreaker(
        failures=inner.integer("failures", at_least=1) or usual.failures,
        cool_down_ms=inner.integer("cool_down_ms", at_least=1) or usual.cool_down_ms,
    )


def _idempotency(fields: Fields) -> Idempotency | None:
    inner = fields.inner("idempotency", ("key", "ttl_ms"), "'idempotency'")
    if inner is None:
        return None
    inner.require("key")
    return Idempotency(inner.text("key") or "''", inner.integer("ttl_ms", at_least=1))


def read_retry(fields: Fields, key: str) -> RetryPolicy | None:
    """Read a retry policy of a task or of an action's execution."""
    inner = fields.inner(key, RETRY_KEYS, f"'{key}'")
    if inner is None:
        return None
    return RetryPolicy(
        max_attempts=inner.integer("max_attempts", at_least=1) or 1,
        backoff=inner.choice("backoff", "none", "linear", "exponential"),
        initial_delay_ms=inner.integer("initial_delay_ms", at_least=0) or 0,
        max_delay_ms=inner.integer("max_delay_ms", at_least=0),
    )


def read_action_or_name(value: Json, location: SourceLocation, report: Report) -> str | Action:
    """Read an action given by name or inline."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return read_action(value, location, report)
    problem = f"is {kind(value)}, but must be an action"
    report.error(location, "wrong_type", problem, "write the name of an action, or '{kind: …}'")
    return Action("")
