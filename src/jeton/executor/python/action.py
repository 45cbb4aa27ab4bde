"""`@jeton.action`: turn a Python function into an action, with schemas from its type hints."""

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar, overload

from jeton.executor.python.functions import register_function
from jeton.model.definition.task import Action, Execution, RetryPolicy

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
    *, name: str | None = None, timeout_ms: int | None = None, retry: RetryPolicy | None = None
) -> Callable[[Callable[Parameters, Result]], ActionFunction[Parameters, Result]]: ...
def action(
    function: Callable[Parameters, Result] | None = None,
    /,
    *,
    name: str | None = None,
    timeout_ms: int | None = None,
    retry: RetryPolicy | None = None,
) -> ActionFunction[Parameters, Result] | Callable[[Callable[Parameters, Result]], ActionFunction[Parameters, Result]]:
    """Turn a function, sync or async, into an action. `timeout_ms` and `retry` apply within one step."""
    execution = None if timeout_ms is None and retry is None else Execution(timeout_ms, retry)

    def decorate(function: Callable[Parameters, Result]) -> ActionFunction[Parameters, Result]:
        return _registered(function, name, execution)

    return decorate if function is None else decorate(function)


def action_functions() -> dict[str, Action]:
    """The actions of all decorated functions in this process, by name."""
    return dict(_actions)


def register_action(name: str, described: Action) -> None:
    """Make an action available to definitions by name."""
    _actions[name] = described


def _registered(
    function: Callable[Parameters, Result], name: str | None, execution: Execution | None
) -> ActionFunction[Parameters, Result]:
    known = register_function(function, name)
    described = Action(
        kind="python",
        implementation={"function": known.reference},
        input_schema=known.signature.input_schema(),
        output_schema=known.signature.output_schema(),
        execution=execution,
        description=inspect.getdoc(function),
    )
    register_action(known.name, described)
    return ActionFunction(function, known.name, described)
