"""Flows built in Python: the same plain data as a YAML file, checked in the same way when they are deployed."""

from collections.abc import Mapping
from typing import Any, Literal

from jeton.engine.build.graph import GraphBuilder, NodeHandle, NodeLike, name_of
from jeton.engine.build.parts import Expressions, Shape, given_values
from jeton.executor import ActionFunction
from jeton.model.definition.flow import MAIN
from jeton.model.json import JsonObject


class Flow(GraphBuilder):
    """A flow graph: nodes with handles, and values along connections."""

    section = "flows"

    def __init__(
        self,
        name: str,
        *,
        input: Shape | None = None,
        output: Shape | None = None,
        output_mapping: Expressions | None = None,
        on_error: Literal["continue", "fail"] | None = None,
        cycles: Literal["refuse", "ignore_back_edges"] | None = None,
        timeout_ms: int | str | None = None,
        limits: Mapping[str, int] | None = None,
        description: str | None = None,
        tags: tuple[str, ...] = (),
    ) -> None:
        settings = {
            "output_mapping": output_mapping,
            "on_error": on_error,
            "cycles": cycles,
            "timeout_ms": timeout_ms,
            "limits": limits,
            "description": description,
            "tags": tags or None,
        }
        super().__init__(name, {"input_schema": input, "output_schema": output}, settings)
        self._connections: list[JsonObject] = []

    def node(
        self,
        name: str,
        type: str | ActionFunction[..., Any],
        *,
        inputs: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        repeated: tuple[str, ...] = (),
        on_error: Literal["route"] | Mapping[Literal["default"], Mapping[str, Any]] | None = None,
        run_when: Literal["all", "any", "settled"] | None = None,
    ) -> NodeHandle:
        """Add a node of a type: a built-in type, a task, an action, or a function with `@jeton.node`.

        `on_error` handles its failure: "route" sends it out by the handle `error`, and `{"default": {...}}` replaces
        its outputs. `run_when`: "any" also runs it after failures if anything was delivered, "settled" always.
        """
        if isinstance(type, ActionFunction):
            type = self._registered(type)
        elif callable(type):
            remedy = "write @jeton.node above its definition"
            raise self._definition_error(f"nodes.{name}.type", "is a plain function, not a node", remedy)
        fields = {
            "type": type,
            "inputs": inputs,
            "data": data,
            "repeated": repeated or None,
            "on_error": on_error,
            "run_when": run_when,
        }
        return self._add(name, fields, self.connect)

    def connect(self, source: NodeLike, target: NodeLike, output: str = MAIN, input: str = MAIN) -> None:
        """Connect an output handle of one node to an input handle of another."""
        ends = {"from": name_of(source), "from_output": output, "to": name_of(target), "to_input": input}
        self._connections.append(given_values(**ends))

    def _graph(self) -> JsonObject:
        return {**self._settings, "nodes": dict(self._nodes), "connections": list(self._connections)}
