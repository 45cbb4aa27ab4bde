"""The Python functions of this process, by the `module:name` that stored definitions use."""

import importlib
import inspect
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from jeton.executor.python.signature import Signature, bad_function
from jeton.model.failure import DefinitionError, Problem

ErrorTypes: TypeAlias = type[BaseException] | tuple[type[BaseException], ...]


class FunctionMissing(Exception):
    """The function is not available in this process. The message names it, with the reason if known."""


class Function:
    """A function that an action calls."""

    def __init__(self, call: Callable[..., Any], name: str, reference: str, retry_on: ErrorTypes = ()) -> None:
        self.call = call
        self.name = name
        self.reference = reference
        self.retry_on = retry_on
        self.is_async = _is_async(call)

    @cached_property
    def signature(self) -> Signature:
        return Signature(self.call, self.name)


_by_reference: dict[str, Function] = {}
_by_name: dict[str, Function] = {}


def register_function(call: Callable[..., Any], name: str | None = None, retry_on: ErrorTypes = ()) -> Function:
    """Register a function under its name and its `module:name`."""
    if call.__name__ == "<lambda>":
        problem = "is a lambda, which has no name to find it by when a run is resumed"
        raise bad_function(name or "<lambda>", problem, "write a function with def, at the top level of a module")
    registered_name = name or call.__name__
    function = Function(call, registered_name, reference_of(call, registered_name), retry_on)
    previous = _by_name.get(function.name)
    # a nested function is created again by each call, and replaces the previous one
    if previous is not None and previous.reference not in (previous.name, function.reference):
        problem = f"the name '{function.name}' is used by {previous.reference}"
        remedy = "give one of them another name: @jeton.action(name=…)"
        path = f"actions.{function.name}"
        raise DefinitionError((Problem("error", "duplicate_definition", function.reference, 0, path, problem, remedy),))
    _by_name[function.name] = _by_reference[function.reference] = function
    return function


def find_function(reference: str) -> Function:
    """Find a function, importing its module if necessary. Raises FunctionMissing."""
    found = _by_reference.get(reference) or _by_name.get(reference)
    return found or _imported(reference)


def reference_of(call: Callable[..., Any], name: str) -> str:
    """The `module:name` of a function; only the name for a nested function, which cannot be imported.

    The module of a script is named after its file, which is how other processes import it.
    """
    if "<locals>" in call.__qualname__:
        return name
    module = call.__module__
    if module == "__main__":
        main = sys.modules["__main__"]
        spec = getattr(main, "__spec__", None)
        file = getattr(main, "__file__", None)
        module = spec.name if spec is not None else Path(file).stem if file else module
    return f"{module}:{call.__qualname__}"


def _imported(reference: str) -> Function:
    module, colon, path = reference.partition(":")
    if not colon:
        raise FunctionMissing(
            f"{reference} (no function is registered under that name; if it is defined inside another, move it to the "
            "top level of a module)"
        )
    try:
        found: Any = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (Exception, SystemExit) as error:  # the module may raise anything when imported
        raise FunctionMissing(f"{reference} ({error})") from error
    # the import may have registered it
    if reference in _by_reference:
        return _by_reference[reference]
    if not callable(found):
        raise FunctionMissing(f"{reference} (it is not callable)")
    function = _by_reference[reference] = Function(found, path, reference)
    return function


def _is_async(call: Callable[..., Any]) -> bool:
    """Whether a call gives an awaitable; also for objects with an async `__call__`."""
    return inspect.iscoroutinefunction(inspect.unwrap(call)) or inspect.iscoroutinefunction(type(call).__call__)
