"""Convert JSON into the arguments of a function, by its type hints."""

import inspect
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, UnsetType

from jeton.executor.python.bytes_paths import NO_CONTENTS, Contents, Path, bytes_paths_in, set_at
from jeton.executor.python.schema_of import CLOSED, PLAIN_DATA, is_pydantic, schema_of
from jeton.model.failure import DefinitionError, Problem
from jeton.model.json import Json, Schema


class BadArguments(Exception):
    """The input does not fit the parameters of the function."""


class Signature:
    """The parameters and the result of a function, by its type hints. Without a hint, any value is allowed."""

    def __init__(self, function: Callable[..., object], name: str) -> None:
        hints = hints_of(function, name)
        fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
        self._has_defaults = False
        self._has_objects = False  # of which arguments and input could share parts
        parameters, self._takes_any = parameters_of(function, name)
        for parameter in parameters:
            hint = hints.get(parameter.name, Any)
            self._has_objects = self._has_objects or not _is_scalar(hint)
            if parameter.default is inspect.Parameter.empty:
                fields.append((parameter.name, hint))
            else:
                self._has_defaults = True
                # the function applies its default itself
                fields.append((parameter.name, Union[hint, UnsetType], UNSET))  # noqa: UP007 - hint is a value
        self._struct = msgspec.defstruct(name, fields, kw_only=True)
        self._names = frozenset(field[0] for field in fields)
        self._bytes_paths = bytes_paths_in(self._struct)
        self.takes_bytes = self._bytes_paths is not None
        self._result = hints.get("return", Any)
        self._name = name

    def input_schema(self) -> Schema:
        """The schema of the parameters."""
        schema = self._schema(self._struct, "its parameters have")
        return {key: value for key, value in schema.items() if key != CLOSED} if self._takes_any else schema

    def output_schema(self) -> Schema | None:
        """The schema of the result; None without a type hint."""
        return None if self._result is Any else self._schema(self._result, "its result has") or None

    def references(self, given: Json) -> dict[Path, str]:
        """The artifacts that the function takes as bytes, by path."""
        return {} if self._bytes_paths is None else self._bytes_paths.references(given)

    def arguments(self, given: Json, contents: Contents = NO_CONTENTS) -> dict[str, object]:
        """The input as arguments of the right types, which share nothing with it. Raises BadArguments."""
        if not isinstance(given, dict):
            raise BadArguments(f"{self._name} needs an object with its parameters as keys")
        own: Any = given
        try:
            if self._has_objects or self._takes_any:
                own = with_bytes(given, contents)
                values = msgspec.convert(own, self._struct, dec_hook=_dec_hook)
            else:
                values = msgspec.convert(own, self._struct)
        except (msgspec.ValidationError, ValueError) as error:
            raise BadArguments(f"{self._name}: {error}") from None
        arguments: dict[str, object] = msgspec.structs.asdict(values)
        if self._has_defaults:
            arguments = {name: value for name, value in arguments.items() if value is not UNSET}
        if self._takes_any:
            arguments.update((key, value) for key, value in own.items() if key not in self._names)
        return arguments

    def _schema(self, hint: object, what: str) -> Schema:
        try:
            return schema_of(hint)
        except TypeError as error:
            raise no_schema(self._name, what, error) from None


def converted(value: Json, hint: Any, contents: Contents = NO_CONTENTS) -> object:
    """Convert a value to a type, sharing nothing with the original."""
    return msgspec.convert(with_bytes(value, contents), hint, dec_hook=_dec_hook)


def with_bytes(value: Json, contents: Contents) -> object:
    """A copy of a value, with bytes in place of references."""
    own: object = msgspec.to_builtins(value)
    for path, content in contents.items():
        own = set_at(own, path, content)
    return own


def parameters_of(function: Callable[..., object], name: str) -> tuple[list[inspect.Parameter], bool]:
    """The parameters passed by name, and whether there is a `**` parameter. Raises DefinitionError."""
    found: list[inspect.Parameter] = []
    takes_any = False
    for parameter in inspect.signature(function).parameters.values():
        match parameter.kind:
            case inspect.Parameter.POSITIONAL_ONLY:
                problem = f"the parameter '{parameter.name}' is positional-only, but input is passed by name"
                raise bad_function(name, problem, "remove the '/' from the parameters")
            case inspect.Parameter.VAR_POSITIONAL:
                continue
            case inspect.Parameter.VAR_KEYWORD:
                takes_any = True
            case _:
                found.append(parameter)
    return found, takes_any


def hints_of(function: Callable[..., object], name: str) -> dict[str, Any]:
    """The type hints of a function. Raises DefinitionError if they cannot be resolved."""
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        problem = f"its type hints cannot be resolved: {error}"
        raise bad_function(name, problem, "define the types at module level, and import them at run time") from None


def bad_function(name: str, problem: str, remedy: str) -> DefinitionError:
    """The error for a function that cannot be an action."""
    return DefinitionError((Problem("error", "bad_function", "", 0, f"actions.{name}", problem, remedy),))


def no_schema(name: str, what: str, error: TypeError) -> DefinitionError:
    """The error for type hints without a JSON Schema. Of msgspec's message, only the last line names the type."""
    reason = str(error).strip().rpartition("\n")[2]
    return bad_function(name, f"{what} no JSON Schema: {reason}", f"use {PLAIN_DATA}, or Any")


def _is_scalar(hint: object) -> bool:
    """Whether all values of a type are immutable, and JSON has them as they are."""
    if get_origin(hint) in (Union, UnionType):
        return all(map(_is_scalar, get_args(hint)))
    return hint is int or hint is float or hint is str or hint is bool or hint is None or hint is NoneType


def _dec_hook(hint: type, value: object) -> object:
    if is_pydantic(hint):
        return hint.model_validate(value)
    raise NotImplementedError(f"JSON cannot be converted to {hint.__name__}; use {PLAIN_DATA}")
