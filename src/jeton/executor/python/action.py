"""`@jeton.action`: turn a Python function into an action, with schemas from its type hints."""

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar, overload

from jeton.executor.python.functions import ErrorTypes, Function, register_function
from jeton.executor.python.signature import bad_function
from jeton.model.definition.task import Action, Execution, RetryPolicy
from jeton.model.json import Schema

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_actions: dict[str, Action] = {}


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
    retry: RetryPolicy | None = None,
    retry_on: ErrorTypes = (),
) -> Callable[[Callable[Parameters, Result]], ActionFunction[Parameters, Result]]: ...
def action(
    function: Callable[Parameters, Result] | None = None,
    /,
    *,
    name: str | None = None,
    timeout_ms: int | None = None,
    retry: RetryPolicy | None = None,
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
    retry: RetryPolicy | None,
    retry_on: ErrorTypes,
    schemas: Callable[[Function], tuple[Schema | None, Schema | None]],
) -> ActionFunction[Parameters, Result]:
    """Register a function as an action of a kind. `schemas` gives those of its input and its output."""
    listed = retry_on if isinstance(retry_on, tuple) else (retry_on,)
    if not all(isinstance(each, type) and issubclass(each, BaseException) for each in listed):
        problem = f"retry_on must be exception classes, not {retry_on!r}"
        raise bad_function(name or function.__name__, problem, "write retry_on=(ConnectionError, MyError)")
    registered = register_function(function, name, listed)
    input_schema, output_schema = schemas(registered)
    definition = Action(
        kind=kind,
        implementation={"function": registered.reference},
        input_schema=input_schema,
        output_schema=output_schema,
        execution=None if timeout_ms is None and retry is None else Execution(timeout_ms, retry),
        description=inspect.getdoc(function),
    )
    _actions[registered.name] = definition
    return ActionFunction(function, registered.name, definition)


def _schemas(function: Function) -> tuple[Schema | None, Schema | None]:
    return function.signature.input_schema(), function.signature.output_schema()
