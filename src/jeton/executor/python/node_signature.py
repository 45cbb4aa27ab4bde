"""The arguments of a node function, by the names and type hints of its parameters."""

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, get_origin

import msgspec

from jeton.executor.python.bytes_paths import NO_CONTENTS, BytesPaths, Contents, Path, bytes_paths_in
from jeton.executor.python.schema_of import CLOSED, schema_of
from jeton.executor.python.signature import BadArguments, converted, hints_of, no_schema, parameters_of
from jeton.model.json import Json, JsonObject, Schema

SERVICES = ("publish", "step")
"""Parameters that receive an object to call; the other special ones receive data."""


class NodeInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The input of the task of a node."""

    inputs: JsonObject
    data: JsonObject
    context: JsonObject
    node_id: str


_DATA_PARAMETERS = ("inputs", "data", "context", "node_id")


def node_input(input: Json, node: str) -> NodeInput:
    """The input of the task. In a token graph it is the result of the input mapping, which becomes the inputs."""
    try:
        return msgspec.convert(input, NodeInput)
    except msgspec.ValidationError:
        return NodeInput(input if isinstance(input, dict) else {"main": input}, {}, {}, node)


class NodeSignature:
    """The parameters of a node function. One without a special name is an input handle."""

    def __init__(self, function: Callable[..., object], name: str) -> None:
        self._name = name
        self._hints = hints_of(function, name)
        self._parameters, self._takes_any = parameters_of(function, name)
        self._bytes_paths: dict[str, BytesPaths] = {}
        for parameter in self._parameters:
            bytes_paths = bytes_paths_in(self._hints.get(parameter.name, Any))
            if bytes_paths is not None and parameter.name not in SERVICES:
                self._bytes_paths[parameter.name] = bytes_paths

    def input_schema(self) -> Schema:
        """The schema of the inputs by handle. A handle whose hint has no schema takes anything, as one without hint."""
        handles = [each for each in self._parameters if each.name not in (*SERVICES, *_DATA_PARAMETERS)]
        hints = [(each.name, self._schema_hint(each.name)) for each in handles]
        schema = schema_of(msgspec.defstruct(self._name, hints, kw_only=True))
        needed = [each.name for each in handles if each.default is inspect.Parameter.empty and self._needs(each.name)]
        schema["required"] = list[Json](needed)
        if self._takes_any or any(each.name == "inputs" for each in self._parameters):
            schema.pop(CLOSED, None)
        return schema

    def _schema_hint(self, name: str) -> Any:
        hint = self._hints.get(name, Any)
        try:
            schema_of(hint)
        except TypeError:
            return Any
        return hint

    def _needs(self, name: str) -> bool:
        """Whether a call without the handle fails: a missing input is None, which its hint may allow."""
        try:
            converted(None, self._hints.get(name, Any))
        except (msgspec.ValidationError, ValueError, NotImplementedError):
            return True
        return False

    def output_schema(self) -> Schema | None:
        """The schema of the result; None without a type hint."""
        result = self._hints.get("return", Any)
        try:
            return None if result is Any else schema_of(result) or None
        except TypeError as error:
            raise no_schema(self._name, "its result has", error) from None

    def references(self, given: NodeInput) -> dict[Path, str]:
        """The artifacts that the node takes as bytes, by path below the name of the parameter."""
        found: dict[Path, str] = {}
        for name, bytes_paths in self._bytes_paths.items():
            value: Json = getattr(given, name) if name in _DATA_PARAMETERS else given.inputs.get(name)
            found |= bytes_paths.references(value, (name,))
        return found

    def arguments(
        self, given: NodeInput, services: Mapping[str, object], contents: Contents = NO_CONTENTS
    ) -> dict[str, object]:
        """The arguments of a call. A missing input is None, if its type hint allows that. Raises BadArguments."""
        found: dict[str, object] = {}
        for parameter in self._parameters:
            name, hint = parameter.name, self._hints.get(parameter.name, Any)
            if name in SERVICES:
                found[name] = services[name]
            elif name == "context" and (hint is Any or get_origin(hint) is Mapping or hint is Mapping):
                found[name] = MappingProxyType(given.context)
            elif name in _DATA_PARAMETERS:
                found[name] = self._converted(name, getattr(given, name), hint, contents)
            elif name in given.inputs or parameter.default is inspect.Parameter.empty:
                found[name] = self._handle(name, given.inputs, hint, contents)
        if self._takes_any:
            found.update({name: value for name, value in given.inputs.items() if name not in found})
        return found

    def _handle(self, name: str, inputs: JsonObject, hint: Any, contents: Contents) -> object:
        try:
            return self._converted(name, inputs.get(name), hint, contents)
        except BadArguments:
            if name in inputs:
                raise
            raise BadArguments(f"Missing required input: {name}") from None

    def _converted(self, name: str, value: Json, hint: Any, contents: Contents) -> object:
        own = {path[1:]: content for path, content in contents.items() if path[0] == name} if contents else contents
        try:
            return converted(value, hint, own)
        except (msgspec.ValidationError, ValueError) as error:
            raise BadArguments(f"{self._name}: input '{name}': {error}") from None
