"""Flows built in Python: the same plain data as a YAML file, checked in the same way when they are deployed."""

from collections.abc import Mapping
from typing import Any, Literal

from jeton.engine.build.workflow import Expressions, Shape, builder_error, given_values, schema_from
from jeton.executor import ActionFunction
from jeton.executor.python.results import builtins_of
from jeton.model.definition.flow import MAIN
from jeton.model.json import Json, JsonObject


class FlowNodeHandle:
    """A node of a flow. `a >> b` connects `main` to `main` and returns b, so that connections can be chained."""

    def __init__(self, flow: "Flow", name: str) -> None:
        self.name = name
        self._flow = flow

    def __rshift__(self, target: "FlowNodeHandle") -> "FlowNodeHandle":
        self._flow.connect(self, target)
        return target

    def __repr__(self) -> str:
        return f"<node {self.name}>"


class Flow:
    """A flow graph: nodes with handles, and values along connections."""

    def __init__(
        self,
        name: str,
        *,
        input: Shape | None = None,
        output: Shape | None = None,
        output_mapping: Expressions | None = None,
        on_error: Literal["continue", "fail"] | None = None,
        cycles: Literal["refuse", "ignore_back_edges"] | None = None,
        timeout_ms: int | None = None,
        limits: Mapping[str, int] | None = None,
        description: str | None = None,
        tags: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self._about = given_values(
            input_schema=schema_from(input, f"flows.{name}.input_schema"),
            output_schema=schema_from(output, f"flows.{name}.output_schema"),
            output_mapping=output_mapping,
            on_error=on_error,
            cycles=cycles,
            timeout_ms=timeout_ms,
            limits=limits,
            description=description,
            tags=tags or None,
        )
        self._nodes: dict[str, JsonObject] = {}
        self._connections: list[JsonObject] = []
        self._actions: JsonObject = {}

    def node(
        self,
        name: str,
        type: str | ActionFunction[..., Any],
        *,
        inputs: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        repeated: tuple[str, ...] = (),
    ) -> FlowNodeHandle:
        """Add a node of a type: a built-in type, a task, an action, or a function with `@jeton.node`."""
        if name in self._nodes:
            raise builder_error(f"flows.{self.name}.nodes.{name}", "already exists", "give it another name")
        if isinstance(type, ActionFunction):
            self._actions[type.name] = builtins_of(type.action)
        elif callable(type):
            path = f"flows.{self.name}.nodes.{name}.type"
            raise builder_error(path, "is a plain function, not a node", "write @jeton.node above its definition")
        named = type.name if isinstance(type, ActionFunction) else type
        self._nodes[name] = given_values(type=named, inputs=inputs, data=data, repeated=repeated or None)
        return FlowNodeHandle(self, name)

    def connect(
        self, source: FlowNodeHandle | str, target: FlowNodeHandle | str, output: str = MAIN, input: str = MAIN
    ) -> None:
        """Connect an output handle of one node to an input handle of another."""
        ends = [end if isinstance(end, str) else end.name for end in (source, target)]
        self._connections.append({"from": ends[0], "from_output": output, "to": ends[1], "to_input": input})

    def definition(self) -> dict[str, Json]:
        """The flow, and the Python functions it uses, as the content of a library file."""
        flow: JsonObject = {**self._about, "nodes": dict(self._nodes), "connections": list(self._connections)}
        return given_values(flows={self.name: flow}, actions=self._actions or None)
