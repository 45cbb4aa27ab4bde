"""What workflows and flows built in Python have in common."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias, cast

from jeton.executor import ActionFunction
from jeton.executor.python.default_factories import made_defaults
from jeton.executor.python.results import NotPlain, builtins_of
from jeton.executor.python.schema_of import PLAIN_DATA, schema_of
from jeton.model.failure import DefinitionError, Problem
from jeton.model.json import JsonObject, Schema

Shape: TypeAlias = type[Any] | Mapping[str, Any]
"""A pydantic model, dataclass, TypedDict or msgspec Struct; or a JSON Schema."""

Expressions: TypeAlias = Mapping[str, Any]
"""A mapping of target paths to expressions, which are strings, or to literals of any other type."""


class NodeHandle:
    """A node of a workflow or flow. `a >> b` connects a to b and returns b, so that connections can be chained."""

    def __init__(self, name: str, connect: "Callable[[NodeHandle, NodeHandle], None]") -> None:
        self.name = name
        self._connect = connect

    def __rshift__(self, target: "NodeHandle") -> "NodeHandle":
        self._connect(self, target)
        return target

    def __repr__(self) -> str:
        return f"<node {self.name}>"


NodeLike: TypeAlias = NodeHandle | str


class GraphBuilder:
    """A graph with a name, settings and nodes."""

    section: ClassVar[str]  # of a library file

    def __init__(self, name: str, schemas: Mapping[str, Shape | None], settings: Mapping[str, object]) -> None:
        self.name = name
        found = {key: self._schema(shape, key) for key, shape in schemas.items()}
        self._settings = given_values(**found, **settings)
        self._nodes: dict[str, JsonObject] = {}
        self._actions: JsonObject = {}

    def _add(
        self, name: str, fields: Mapping[str, object], connect: Callable[[NodeHandle, NodeHandle], None]
    ) -> NodeHandle:
        if name in self._nodes:
            raise self._definition_error(f"nodes.{name}", "already exists", "give it another name")
        self._nodes[name] = given_values(**fields)
        return NodeHandle(name, connect)

    def _registered(self, function: ActionFunction[..., Any]) -> str:
        """Keep a Python function for the definition. Returns its name."""
        self._actions[function.name] = builtins_of(function.action)
        return function.name

    def _schema(self, shape: Shape | None, key: str) -> Schema | None:
        if shape is None or isinstance(shape, Mapping):
            return cast("Schema | None", shape)
        try:
            schema = schema_of(shape)
        except TypeError as error:
            raise self._definition_error(
                key, f"has no JSON Schema: {error}", f"use {PLAIN_DATA}, or a schema"
            ) from None
        return self._with_made_defaults(schema, shape) if key == "state_schema" else schema

    def _with_made_defaults(self, schema: Schema, model: type[Any]) -> Schema:
        """The schema of a state with the defaults that the model's factories make."""
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            return schema
        try:
            defaults = made_defaults(model)
        except Exception as error:  # a factory is the user's own function
            remedy = "give the field a constant default, or none, and write it with an output mapping"
            raise self._definition_error(
                "state_schema", f"has a default that cannot be used: {error}", remedy
            ) from error
        found: JsonObject = {
            key: {**below, "default": defaults[key]} if key in defaults and isinstance(below, dict) else below
            for key, below in properties.items()
        }
        return {**schema, "properties": found}

    def _definition_error(self, path: str, problem: str, remedy: str) -> DefinitionError:
        where = f"{self.section}.{self.name}.{path}"
        return DefinitionError((Problem("error", "bad_builder", "", 0, where, problem, remedy),))


def given_values(**values: object) -> JsonObject:
    """The values as plain data, without those that are None. Raises DefinitionError."""
    found: JsonObject = {}
    for key, value in values.items():
        try:
            if value is not None:
                found[key] = builtins_of(value)
        except NotPlain as error:
            problem = f"contains an object of the type '{type(error.value).__name__}', which is not plain data"
            raise DefinitionError(
                (Problem("error", "bad_builder", "", 0, key, problem, f"use {PLAIN_DATA}"),)
            ) from None
    return found


def name_of(node: NodeLike) -> str:
    return node if isinstance(node, str) else node.name
