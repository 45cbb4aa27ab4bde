"""Flows written in Python. They read like the YAML, and become the very same plain data.

Nothing is checked here: `definition()` goes the way of a file, so that a mistake is reported in the same words.
"""

from collections.abc import Mapping
from typing import Any, Literal

from jeton.engine.build.workflow import Expressions, Shape, given_values, schema_from
from jeton.executor import ActionFunction
from jeton.executor.python.results import builtins_of
from jeton.model.definition.flow import MAIN
from jeton.model.failure import DefinitionError, Problem
from jeton.model.json import Json, JsonObject


class FlowNodeHandle:
    """A node of a flow being written. `a >> b` connects `main` to `main`, and gives b, so that it can be chained."""

    def __init__(self, flow: "Flow", name: str) -> None:
        self.name = name
        self._flow = flow

    def __rshift__(self, target: "FlowNodeHandle") -> "FlowNodeHandle":
        self._flow.connect(self, target)
        return target

    def __repr__(self) -> str:
        return f"<node {self.name}>"


class Flow:
    """A flow graph in the making: boxes with handles, and values along connections."""

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
        """Add a node: of a built-in type, a task, an action, or a function that is a node."""
        if name in self._nodes:
            path = f"flows.{self.name}.nodes.{name}"
            problem = Problem("error", "bad_builder", "", 0, path, "is there already", "give it another name")
            raise DefinitionError((problem,))
        if isinstance(type, ActionFunction):
            self._actions[type.name] = builtins_of(type.action)
        elif callable(type):
            path, told = f"flows.{self.name}.nodes.{name}.type", "is a function, and no node yet"
            problem = Problem("error", "bad_builder", "", 0, path, told, "write @jeton.node above its definition")
            raise DefinitionError((problem,))
        named = type.name if isinstance(type, ActionFunction) else type
        self._nodes[name] = given_values(type=named, inputs=inputs, data=data, repeated=repeated or None)
        return FlowNodeHandle(self, name)

    def connect(
        self, source: FlowNodeHandle | str, target: FlowNodeHandle | str, output: str = MAIN, input: str = MAIN
    ) -> None:
        """Lead an output handle of one node to an input handle of another."""
        ends = [end if isinstance(end, str) else end.name for end in (source, target)]
        self._connections.append({"from": ends[0], "from_output": output, "to": ends[1], "to_input": input})

    def definition(self) -> dict[str, Json]:
        """A library file's content: this flow, and the Python functions it uses."""
        flow: JsonObject = {**self._about, "nodes": dict(self._nodes), "connections": list(self._connections)}
        return given_values(flows={self.name: flow}, actions=self._actions or None)
