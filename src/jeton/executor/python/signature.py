"""JSON into the arguments of a function, by its hints."""

import inspect
from collections.abc import Callable
from typing import Any, Union, get_type_hints

import msgspec
from msgspec import UNSET, UnsetType

from jeton.executor.python.bytes_paths import NO_CONTENTS, Contents, Path, bytes_paths_in, put
from jeton.executor.python.schema_of import PLAIN_DATA, is_pydantic, schema_of
from jeton.model.failure import DefinitionError, Problem
from jeton.model.json import Json, Schema


class BadArguments(Exception):
    """The input does not fit the function's parameters."""


class Signature:
    """The parameters and the result of a function, by its hints. Without a hint, anything goes."""

    def __init__(self, function: Callable[..., object], name: str) -> None:
        hints = hints_of(function, name)
        fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
        self._has_defaults = False
        parameters, self._open = parameters_of(function, name)
        for parameter in parameters:
            hint = hints.get(parameter.name, Any)
            if parameter.default is inspect.Parameter.empty:
                fields.append((parameter.name, hint))
            else:
                self._has_defaults = True
                # the default is the function's own business: it is used when nothing is given
                fields.append((parameter.name, Union[hint, UnsetType], UNSET))  # noqa: UP007 - hint is a value
        self._struct = msgspec.defstruct(name, fields, kw_only=True)
        self._names = frozenset(field[0] for field in fields)
        self._places = bytes_paths_in(self._struct)
        self.takes_bytes = self._places is not None
        self._result = hints.get("return", Any)
        self._name = name

    def input_schema(self) -> Schema:
        """What the function takes."""
        return self._schema(self._struct, "its parameters")

    def output_schema(self) -> Schema | None:
        """What it gives; nothing if its hints do not say."""
        return None if self._result is Any else self._schema(self._result, "its result") or None

    def references(self, given: Json) -> dict[Path, str]:
        """The artifacts whose contents the function is to have."""
        return {} if self._places is None else self._places.references(given)

    def arguments(self, given: Json, contents: Contents = NO_CONTENTS) -> dict[str, object]:
        """The input as arguments of the right types. Nothing is shared with it: a function may change what it gets."""
        if not isinstance(given, dict):
            raise BadArguments(f"{self._name} takes an object with its parameters as keys")
        own: Any = filled(given, contents) if contents else msgspec.to_builtins(given)
        try:
            values = msgspec.convert(own, self._struct, dec_hook=_dec_hook)
        except (msgspec.ValidationError, ValueError) as error:
            raise BadArguments(f"{self._name}: {error}") from None
        arguments: dict[str, object] = msgspec.structs.asdict(values)
        if self._has_defaults:
            arguments = {name: value for name, value in arguments.items() if value is not UNSET}
        if self._open:
            arguments.update((key, value) for key, value in own.items() if key not in self._names)
        return arguments

    def _schema(self, hint: object, what: str) -> Schema:
        try:
            return schema_of(hint)
        except TypeError as error:
            raise unfit(self._name, f"{what} have no JSON Schema: {error}", f"use {PLAIN_DATA}") from None


def converted(value: Json, hint: Any, contents: Contents = NO_CONTENTS) -> object:
    """A value of the right type, sharing nothing with the one it was made from."""
    return msgspec.convert(filled(value, contents), hint, dec_hook=_dec_hook)


def filled(value: Json, contents: Contents) -> object:
    """A value of one's own, with contents where references were."""
    own: object = msgspec.to_builtins(value)
    for path, content in contents.items():
        own = put(own, path, content)
    return own


def parameters_of(function: Callable[..., object], name: str) -> tuple[list[inspect.Parameter], bool]:
    """Those that are given by name, and whether any other name is taken too; a DefinitionError if one cannot be."""
    found: list[inspect.Parameter] = []
    is_open = False
    for parameter in inspect.signature(function).parameters.values():
        match parameter.kind:
            case inspect.Parameter.POSITIONAL_ONLY:
                problem = f"the parameter '{parameter.name}' is positional only, and input is given by name"
                raise unfit(name, problem, "remove the '/' from the parameters")
            case inspect.Parameter.VAR_POSITIONAL:
                continue
            case inspect.Parameter.VAR_KEYWORD:
                is_open = True
            case _:
                found.append(parameter)
    return found, is_open


def hints_of(function: Callable[..., object], name: str) -> dict[str, Any]:
    """The hints of a function; a DefinitionError if they name what is not there."""
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        problem = f"its hints cannot be read: {error}"
        raise unfit(name, problem, "define the types at the top of the module, and import them at run time") from None


def unfit(name: str, problem: str, remedy: str) -> DefinitionError:
    """A function that no definition could call."""
    return DefinitionError((Problem("error", "bad_function", "", 0, f"actions.{name}", problem, remedy),))


def _dec_hook(hint: type, value: object) -> object:
    if is_pydantic(hint):
        return hint.model_validate(value)
    raise NotImplementedError(f"no JSON becomes a {hint.__name__}; use {PLAIN_DATA}")
