"""`@jeton.node`: turn a Python function into a node type of flows."""

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any, overload

from jeton.executor.python.action import ActionFunction, Parameters, Result, register_action
from jeton.executor.python.functions import register_function
from jeton.executor.python.node_signature import NodeSignature
from jeton.model.definition.task import Action, Execution, RetryPolicy


@overload
def node(function: Callable[Parameters, Result], /) -> ActionFunction[Parameters, Result]: ...
@overload
def node(
    *, name: str | None = None, timeout_ms: int | None = None, retry: RetryPolicy | None = None
) -> Callable[[Callable[Parameters, Result]], ActionFunction[Parameters, Result]]: ...
def node(
    function: Callable[Parameters, Result] | None = None,
    /,
    *,
    name: str | None = None,
    timeout_ms: int | None = None,
    retry: RetryPolicy | None = None,
) -> ActionFunction[Parameters, Result] | Callable[[Callable[Parameters, Result]], ActionFunction[Parameters, Result]]:
    """Turn a function, sync or async, into a node type of its name. It returns a mapping, which is its outputs.

    Parameters named `inputs`, `data`, `context`, `node_id`, `publish` and `step` receive what the names say; any other
    is an input handle.
    """
    execution = None if timeout_ms is None and retry is None else Execution(timeout_ms, retry)

    def decorate(function: Callable[Parameters, Result]) -> ActionFunction[Parameters, Result]:
        known = register_function(function, name)
        described = Action(
            kind="node",
            implementation={"function": known.reference},
            output_schema=signature_of(function, known.name).output_schema(),
            execution=execution,
            description=inspect.getdoc(function),
        )
        register_action(known.name, described)
        return ActionFunction(function, known.name, described)

    return decorate if function is None else decorate(function)


@lru_cache(maxsize=1024)
def signature_of(function: Callable[..., Any], name: str) -> NodeSignature:
    """The signature of a node function, cached."""
    return NodeSignature(function, name)
