"""What a node of a flow is called with, by the names and the hints of its parameters."""

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, get_origin

import msgspec

from jeton.executor.python.bytes_paths import NO_CONTENTS, BytesPaths, Contents, Path, bytes_paths_in
from jeton.executor.python.schema_of import PLAIN_DATA, schema_of
from jeton.executor.python.signature import BadArguments, converted, hints_of, parameters_of, unfit
from jeton.model.json import Json, JsonObject, Schema

OFFERED = ("publish", "step")
"""What a node may do; the rest of what it may ask for is data."""


class NodeInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The input of a node's task: all there is to know."""

    inputs: JsonObject
    data: JsonObject
    context: JsonObject
    node_id: str


_DATA = ("inputs", "data", "context", "node_id")


def node_input(input: Json, node: str) -> NodeInput:
    """The task's input; in a token graph it is the object that the node's mapping made, and so the inputs."""
    try:
        return msgspec.convert(input, NodeInput)
    except msgspec.ValidationError:
        return NodeInput(input if isinstance(input, dict) else {"main": input}, {}, {}, node)


class NodeSignature:
    """The parameters of a node. One that is none of the six names is an input handle."""

    def __init__(self, function: Callable[..., object], name: str) -> None:
        self._name = name
        self._hints = hints_of(function, name)
        self._parameters, self._open = parameters_of(function, name)
        self._places: dict[str, BytesPaths] = {}
        for parameter in self._parameters:
            places = bytes_paths_in(self._hints.get(parameter.name, Any))
            if places is not None and parameter.name not in OFFERED:
                self._places[parameter.name] = places

    def output_schema(self) -> Schema | None:
        """What it gives; nothing if its hints do not say."""
        result = self._hints.get("return", Any)
        try:
            return None if result is Any else schema_of(result) or None
        except TypeError as error:
            raise unfit(self._name, f"its result has no JSON Schema: {error}", f"use {PLAIN_DATA}") from None

    def references(self, given: NodeInput) -> dict[Path, str]:
        """The artifacts whose contents the node is to have, each under the name of its parameter."""
        found: dict[Path, str] = {}
        for name, places in self._places.items():
            value: Json = getattr(given, name) if name in _DATA else given.inputs.get(name)
            found |= places.references(value, (name,))
        return found

    def arguments(
        self, given: NodeInput, offered: Mapping[str, object], contents: Contents = NO_CONTENTS
    ) -> dict[str, object]:
        """A missing input is None, unless the hint says that there must be one; then the node has failed."""
        found: dict[str, object] = {}
        for parameter in self._parameters:
            name, hint = parameter.name, self._hints.get(parameter.name, Any)
            if name in OFFERED:
                found[name] = offered[name]
            elif name == "context" and (hint is Any or get_origin(hint) is Mapping or hint is Mapping):
                found[name] = MappingProxyType(given.context)
            elif name in _DATA:
                found[name] = self._converted(name, getattr(given, name), hint, contents)
            elif name in given.inputs or parameter.default is inspect.Parameter.empty:
                found[name] = self._handle(name, given.inputs, hint, contents)
        if self._open:
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
