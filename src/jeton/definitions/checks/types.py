"""Schemas of the variables at every node."""

from collections.abc import Mapping

from jeton.definitions.checks.compiled import CompiledWorkflow
from jeton.definitions.checks.definitions import Definitions
from jeton.definitions.checks.graph.graph import Graph
from jeton.definitions.checks.schemas import items_of
from jeton.expression import Expression, type_of
from jeton.model.definition.task import Action, Task
from jeton.model.definition.workflow import (
    AgentTarget,
    EndTarget,
    GateTarget,
    Node,
    Target,
    TaskTarget,
    WaitTarget,
    Workflow,
    WorkflowTarget,
)
from jeton.model.json import Json, JsonObject, Schema
from jeton.model.state.lineage import FanOut

UNKNOWN: Schema = {}
EACH = ""
RUN: Schema = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "root_id": {"type": "string"},
        "workflow": {"type": "string"},
        "version": {"type": "integer"},
        "key": {"type": ["string", "null"]},
        "started_at": {"type": "string"},
        "trigger": {
            "type": ["object", "null"],
            "properties": {
                "type": {"type": "string"},
                "id": {"type": ["string", "null"]},
                "depth": {"type": "integer"},
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
"""The schema of `run`."""

Types = Mapping[str, Schema]


class WorkflowTypes:
    """Schemas of the variables, by node. Cached, because an item's type may depend on outer items."""

    def __init__(self, graph: Graph, compiled: CompiledWorkflow, definitions: Definitions) -> None:
        self._graph = graph
        self._compiled = compiled
        self._definitions = definitions
        self._at: dict[str, Types] = {}
        self._known_items: dict[FanOut, dict[str, Schema]] = {}
        self.context = context_types(graph.workflow)

    def at(self, node: str) -> Types:
        """The variables of an input mapping, a foreach or a wait."""
        if node not in self._at:
            self._at[node] = self.context  # until it is known, because a loop may lead back here
            self._at[node] = {**self.context, **self._branch_types(node)}
        return self._at[node]

    def after(self, node: str) -> Types:
        """The variables of an output mapping or a condition, with `result`."""
        return {**self.at(node), "result": self.result(node)}

    def result(self, node: str) -> Schema:
        """The schema of the node's result; without a target, of its mapped input."""
        found = self._graph.workflow.nodes[node]
        if found.target is None:
            return self._mapped_input(node, found)
        return result_of(found.target, self._definitions)

    def _mapped_input(self, name: str, node: Node) -> Schema:
        if node.input_mapping is None:
            return self._graph.workflow.input_schema or UNKNOWN
        return mapped_type(self._compiled.inputs[name], self.at(name))

    def _branch_types(self, node: str) -> dict[str, Schema]:
        """The item variables at a node. One with different types on different paths is unknown."""
        found: dict[str, Schema] = {}
        for fan_out in self._graph.around.get(node, ()):
            for name, item in self._items(fan_out).items():
                found[name] = item if found.setdefault(name, item) == item else UNKNOWN
        innermost = {stack[-1] for stack in self._graph.stacks(node) if stack}
        items = [self._items(fan_out)[EACH] for fan_out in innermost]
        agreed = items[0] if items and all(item == items[0] for item in items) else UNKNOWN
        return {**found, "_branch": _branch_type(agreed)}

    def _items(self, fan_out: FanOut) -> dict[str, Schema]:
        """The items of a fan-out's branches by variable; `EACH` is the type of `_branch.item`."""
        if fan_out not in self._known_items:
            found = self._known_items[fan_out] = {EACH: UNKNOWN}  # until it is known, because a loop may lead back here
            makers = self._graph.makers[fan_out]
            items = [self._item(index) for index in makers]
            for index, item in zip(makers, items, strict=True):
                foreach = self._graph.transition(index).foreach
                if foreach is not None and foreach.item_var is not None:
                    name = foreach.item_var
                    found[name] = item if found.setdefault(name, item) == item else UNKNOWN
            found[EACH] = items[0] if all(item == items[0] for item in items) else UNKNOWN
        return self._known_items[fan_out]

    def _item(self, index: int) -> Schema:
        """The type of one item of a collection; unknown without a collection."""
        collection = self._compiled.collections.get(index)
        if collection is None:
            return UNKNOWN
        return items_of(type_of(collection, self.at(self._graph.transition(index).source)))


def _branch_type(item: Schema) -> Schema:
    return {
        "type": "object",
        "properties": {
            "index": {"type": "integer"},
            "total": {"type": "integer"},
            "item": item,
            "fan_out_node_id": {"type": "string"},
            "output": {"type": "object"},
            "outer": {"type": ["object", "null"]},
        },
        "additionalProperties": False,
    }


def context_types(workflow: Workflow) -> dict[str, Schema]:
    """The schemas of the context. `output` has the output schema only without an output mapping."""
    returned = workflow.output_schema if workflow.output_mapping is None else None
    return {
        "input": workflow.input_schema or UNKNOWN,
        "state": workflow.state_schema or UNKNOWN,
        "output": returned or UNKNOWN,
        "run": RUN,
    }


def mapped_type(mapping: Mapping[str, Expression], types: Types) -> Schema:
    """The schema of the object that a mapping makes."""
    properties: JsonObject = {target: type_of(expression, types) for target, expression in mapping.items()}
    if any("." in target for target in properties):
        return {"type": "object"}
    return {"type": "object", "properties": properties}


def result_of(target: Target, definitions: Definitions) -> Schema:
    """The schema of a target's result."""
    match target:
        case TaskTarget(task):
            found = definitions.task(task)
            return UNKNOWN if found is None else output_of_task(found, definitions)
        case WorkflowTarget(workflow, on_failure):
            child = definitions.workflow(workflow)
            return UNKNOWN if child is None or on_failure == "catch" else child.output_schema or UNKNOWN
        case GateTarget(_, schema, _, approvals):
            answer = schema or UNKNOWN
            return answer if approvals == 1 else {"type": "array", "items": answer}
        case WaitTarget(signal=str(), schema=schema):
            return schema or UNKNOWN
        case WaitTarget(signals=signals):
            return _one_of(target) if signals else {"type": "null"}
        case EndTarget():
            return UNKNOWN
        case AgentTarget(_, output_schema):
            properties: JsonObject = {"text": {"type": "string"}, "conversation_id": {"type": "string"}}
            return {"type": "object", "properties": {**properties, "data": output_schema or UNKNOWN}}


def _one_of(wait: WaitTarget) -> Schema:
    """The schema of what a wait for the first of several signals gives."""
    if wait.on_timeout != "fail":
        return UNKNOWN
    names: list[Json] = [*wait.signals]
    schemas = [each.schema or UNKNOWN for each in wait.signals.values()]
    value = schemas[0] if all(each == schemas[0] for each in schemas) else UNKNOWN
    properties: JsonObject = {"signal": {"type": "string", "enum": names}, "value": value}
    return {"type": "object", "required": ["signal", "value"], "properties": properties}


def output_of_task(task: Task, definitions: Definitions) -> Schema:
    """The output schema of a task; for a task of one step, that of its action."""
    if task.output_schema is not None or len(task.steps) != 1:
        return task.output_schema or UNKNOWN
    (step,) = task.steps
    action = definitions.action(step.action)
    if action is None or action.output_schema is None or step.output_mapping is not None or step.condition is not None:
        return UNKNOWN
    if task.of_action or action.output_schema.get("type") == "object":
        return action.output_schema
    return UNKNOWN


def input_of_task(task: Task, definitions: Definitions) -> Schema | None:
    """The input schema of a task; for a task of one step that passes its input on, that of its action."""
    if task.input_schema is not None or len(task.steps) != 1:
        return task.input_schema
    (step,) = task.steps
    action: Action | None = definitions.action(step.action)
    return action.input_schema if action is not None and step.input_mapping is None else None


def input_of(target: Target | None, definitions: Definitions) -> Schema | None:
    """The input schema of a target."""
    match target:
        case TaskTarget(task):
            found = definitions.task(task)
            return None if found is None else input_of_task(found, definitions)
        case WorkflowTarget(workflow):
            child = definitions.workflow(workflow)
            return None if child is None else child.input_schema
        case _:
            return None
