"""What workflows and flows built in Python have in common."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

from jeton.engine.build.parts import Part, Parts, Shape, builder_error, definition_of, given_values, schema_from
from jeton.executor import ActionFunction
from jeton.executor.python.default_factories import made_defaults
from jeton.executor.python.results import builtins_of
from jeton.model.failure import DefinitionError
from jeton.model.json import Json, JsonObject, Schema


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
        self._called: list[Part] = []

    def definition(self) -> dict[str, Json]:
        """It, all it calls and the Python functions they use, as the content of a library file."""
        return definition_of(self)

    def collect(self, parts: Parts) -> None:
        """Add it and all it calls to the content of a library file."""
        parts.add(self.section, self.name, self._graph())
        for name, action in self._actions.items():
            parts.add_action(name, action)
        for called in self._called:
            parts.refer(called)

    def _graph(self) -> JsonObject:
        """The graph as a definition file has it."""
        raise NotImplementedError

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

    def _name_of_called(self, called: "str | Part | None") -> str | None:
        """The name of a workflow or agent, which is kept for the definition if it was built in Python."""
        if called is None or isinstance(called, str):
            return called
        self._called.append(called)
        return called.name

    def _schema(self, shape: Shape | None, key: str) -> Schema | None:
        schema = schema_from(shape, lambda problem, remedy: self._definition_error(key, problem, remedy))
        if schema is None or shape is None or isinstance(shape, Mapping) or key != "state_schema":
            return schema
        return self._with_made_defaults(schema, shape)

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
        return builder_error(f"{self.section}.{self.name}.{path}", problem, remedy)


def name_of(node: NodeLike) -> str:
    return node if isinstance(node, str) else node.name
