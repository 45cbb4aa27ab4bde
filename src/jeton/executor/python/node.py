"""`@jeton.node`: turn a Python function into a node type of flows."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, overload

from jeton.executor.python.action import ActionFunction, Parameters, Result, Retry, define_action
from jeton.executor.python.functions import ErrorTypes, Function
from jeton.executor.python.node_signature import NodeSignature
from jeton.model.json import Schema


@overload
def node(function: Callable[Parameters, Result], /) -> ActionFunction[Parameters, Result]: ...
@overload
def node(
    *,
    name: str | None = None,
    timeout_ms: int | None = None,
    retry: Retry | None = None,
    retry_on: ErrorTypes = (),
) -> Callable[[Callable[Parameters, Result]], ActionFunction[Parameters, Result]]: ...
def node(
    function: Callable[Parameters, Result] | None = None,
    /,
    *,
    name: str | None = None,
    timeout_ms: int | None = None,
    retry: Retry | None = None,
    retry_on: ErrorTypes = (),
) -> ActionFunction[Parameters, Result] | Callable[[Callable[Parameters, Result]], ActionFunction[Parameters, Result]]:
    """Turn a function, sync or async, into a node type of its name. It returns a mapping, which is its outputs.

    Parameters named `inputs`, `data`, `context`, `node_id`, `publish` and `step` receive what the names say; any other
    is an input handle.
    """

    def decorate(function: Callable[Parameters, Result]) -> ActionFunction[Parameters, Result]:
        return define_action("node", function, name, timeout_ms, retry, retry_on, _schemas)

    return decorate if function is None else decorate(function)


@lru_cache(maxsize=1024)
def signature_of(function: Callable[..., Any], name: str) -> NodeSignature:
    """The signature of a node function, cached."""
    return NodeSignature(function, name)


def _schemas(function: Function) -> tuple[Schema | None, Schema | None]:
    signature = signature_of(function.call, function.name)
    return signature.input_schema(), signature.output_schema()
