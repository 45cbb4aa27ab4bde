"""`@jeton.action`: turn a Python function into an action, with schemas from its type hints."""

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeAlias, TypedDict, TypeVar, cast, overload

import msgspec

from jeton.executor.python.functions import ErrorTypes, Function, register_function
from jeton.executor.python.signature import bad_function
from jeton.model.definition.task import Action, Backoff, Execution, RetryPolicy
from jeton.model.json import Schema

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_actions: dict[str, Action] = {}


class RetryOptions(TypedDict, total=False):
    """The fields of a `RetryPolicy` as a dict: `retry={"max_attempts": 3, "initial_delay_ms": 200}`."""

    max_attempts: int
    backoff: Backoff
    initial_delay_ms: int
    max_delay_ms: int | None


Retry: TypeAlias = RetryPolicy | RetryOptions


class ActionFunction(Generic[Parameters, Result]):
    """A function that workflows can use as an action. Calling it calls the function."""

    def __init__(self, function: Callable[Parameters, Result], name: str, action: Action) -> None:
        self.name = name
        self.action = action
        self._function = function
        update_wrapper(self, function)

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<action {self.name}>"


@overload
def action(function: Callable[Parameters, Result], /) -> ActionFunction[Parameters, Result]: ...
@overload
def action(
    *,
    name: str | None = None,
    timeout_ms: int | None = None,
    retry: Retry | None = None,
    retry_on: ErrorTypes = (),
) -> Callable[[Callable[Parameters, Result]], ActionFunction[Parameters, Result]]: ...
def action(
    function: Callable[Parameters, Result] | None = None,
    /,
    *,
    name: str | None = None,
    timeout_ms: int | None = None,
    retry: Retry | None = None,
    retry_on: ErrorTypes = (),
) -> ActionFunction[Parameters, Result] | Callable[[Callable[Parameters, Result]], ActionFunction[Parameters, Result]]:
    """Turn a function, sync or async, into an action. `timeout_ms` and `retry` apply within one step.

    `retry` is for connection errors, timeouts, `TransientError`, and the exceptions in `retry_on`.
    """

    def decorate(function: Callable[Parameters, Result]) -> ActionFunction[Parameters, Result]:
        return define_action("python", function, name, timeout_ms, retry, retry_on, _schemas)

    return decorate if function is None else decorate(function)


def action_functions() -> dict[str, Action]:
    """The actions of all decorated functions in this process, by name."""
    return dict(_actions)


def define_action(
    kind: str,
    function: Callable[Parameters, Result],
    name: str | None,
    timeout_ms: int | None,
    retry: Retry | None,
    retry_on: ErrorTypes,
    schemas: Callable[[Function], tuple[Schema | None, Schema | None]],
) -> ActionFunction[Parameters, Result]:
    """Register a function as an action of a kind. `schemas` gives those of its input and its output."""
    if not _are_exceptions(retry_on):
        problem = f"retry_on must be exception classes, not {retry_on!r}"
        raise bad_function(name or function.__name__, problem, "write retry_on=(ConnectionError, MyError)")
    policy = None if retry is None else _policy(retry, name or function.__name__)
    registered = register_function(function, name, retry_on)
    input_schema, output_schema = schemas(registered)
    definition = Action(
        kind=kind,
        implementation={"function": registered.reference},
        input_schema=input_schema,
        output_schema=output_schema,
        execution=None if timeout_ms is None and policy is None else Execution(timeout_ms, policy),
        description=inspect.getdoc(function),
    )
    _actions[registered.name] = definition
    return ActionFunction(function, registered.name, definition)


def _are_exceptions(retry_on: object) -> bool:
    listed = cast("tuple[object, ...]", retry_on) if isinstance(retry_on, tuple) else (retry_on,)
    return all(isinstance(each, type) and issubclass(each, BaseException) for each in listed)


def _policy(retry: object, name: str) -> RetryPolicy:
    try:
        policy = msgspec.convert(msgspec.to_builtins(retry), RetryPolicy)
        if policy.max_attempts < 1:
            raise ValueError("max_attempts must be at least 1")
    except ValueError as error:
        remedy = 'write retry={"max_attempts": 3, "backoff": "exponential", "initial_delay_ms": 200}'
        raise bad_function(name, f"retry: {error}", remedy) from None
    return policy


def _schemas(function: Function) -> tuple[Schema | None, Schema | None]:
    return function.signature.input_schema(), function.signature.output_schema()
