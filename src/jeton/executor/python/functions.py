"""The Python functions of this process, by `module:name`, which is what a stored definition knows them by."""

import importlib
import inspect
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from jeton.executor.python.signature import Signature
from jeton.model.failure import DefinitionError, Problem


class FunctionMissing(Exception):
    """No such function here. The text names it, and says why if more is known."""


class Function:
    """A function that an action calls."""

    def __init__(self, call: Callable[..., Any], name: str, reference: str) -> None:
        self.call = call
        self.name = name
        self.reference = reference
        self.is_async = _is_async(call)

    @cached_property
    def signature(self) -> Signature:
        return Signature(self.call, self.name)


_by_reference: dict[str, Function] = {}
_by_name: dict[str, Function] = {}


def register_function(call: Callable[..., Any], name: str | None = None) -> Function:
    """Make a function known by its name and by where it stands."""
    known_as = name or call.__name__
    function = Function(call, known_as, reference_of(call, known_as))
    before = _by_name.get(function.name)
    # a function inside another is made anew at each call, and replaces its elder
    if before is not None and before.reference not in (before.name, function.reference):
        problem = f"{before.reference} has the name '{function.name}' already"
        remedy = "give one of the two another: @jeton.action(name=…)"
        path = f"actions.{function.name}"
        raise DefinitionError((Problem("error", "duplicate_definition", function.reference, 0, path, problem, remedy),))
    _by_name[function.name] = _by_reference[function.reference] = function
    return function


def find_function(reference: str) -> Function:
    """The function, importing its module if nobody has; raises FunctionMissing."""
    found = _by_reference.get(reference) or _by_name.get(reference)
    return found or _imported(reference)


def reference_of(call: Callable[..., Any], name: str) -> str:
    """Where a function stands; only its name for one inside another function, which nobody could import.

    A script is known by its file's name, which it keeps when another process imports it.
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
        raise FunctionMissing(f"{reference} (no function was registered by that name)")
    try:
        found: Any = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (Exception, SystemExit) as error:  # whatever the module does when imported, the function is not here
        raise FunctionMissing(f"{reference} ({error})") from error
    # importing it may have registered it, under this very reference
    if reference in _by_reference:
        return _by_reference[reference]
    if not callable(found):
        raise FunctionMissing(f"{reference} (it is no function)")
    function = _by_reference[reference] = Function(found, path, reference)
    return function


def _is_async(call: Callable[..., Any]) -> bool:
    """Whether calling it gives something to await; an object may be called too."""
    return inspect.iscoroutinefunction(inspect.unwrap(call)) or inspect.iscoroutinefunction(type(call).__call__)
