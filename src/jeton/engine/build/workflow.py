"""Workflows built in Python: the same plain data as a YAML file, checked in the same way when they are deployed."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

from jeton.executor import ActionFunction
from jeton.executor.python.results import builtins_of
from jeton.executor.python.schema_of import PLAIN_DATA, schema_of
from jeton.model.definition.task import Action, Task
from jeton.model.definition.workflow import Merge, MergeStrategy, MOfN, Strategy, Synchronization
from jeton.model.failure import DefinitionError, Problem
from jeton.model.json import Json, JsonObject, Schema

Shape: TypeAlias = type[Any] | Mapping[str, Any]
"""A pydantic model, dataclass, TypedDict or msgspec Struct; or a JSON Schema."""

Expressions: TypeAlias = Mapping[str, Any]
"""A mapping of target paths to expressions, which are strings, or to literals of any other type."""


def join(
    strategy: Literal["all", "any"] = "all",
    *,
    m_of_n: int | None = None,
    sibling_group: str | None = None,
    merge: Merge | None = None,
    timeout_ms: int | None = None,
    on_timeout: Literal["fail", "proceed_with_available"] = "fail",
    on_early_complete: Literal["cancel", "abandon"] = "cancel",
    on_branch_failure: Literal["fail", "continue"] = "fail",
) -> Synchronization:
    """The synchronization of a transition into a fan-in: wait for all siblings, any of them, or `m_of_n`."""
    awaited: Strategy = strategy if m_of_n is None else MOfN(m_of_n)
    return Synchronization(awaited, sibling_group, merge, timeout_ms, on_timeout, on_early_complete, on_branch_failure)


def merge(target: str, strategy: MergeStrategy = "append", *, source: str = "_branch.output") -> Merge:
    """The merge of the branches' outputs into one value, written to `target`."""
    return Merge(target, source, strategy)


class NodeHandle:
    """A node of a workflow. `a >> b` adds a plain transition and returns b, so that transitions can be chained."""

    def __init__(self, workflow: "Workflow", name: str) -> None:
        self.name = name
        self._workflow = workflow

    def __rshift__(self, target: "NodeHandle") -> "NodeHandle":
        self._workflow.transition(self, target)
        return target

    def __repr__(self) -> str:
        return f"<node {self.name}>"


NodeLike: TypeAlias = NodeHandle | str
ActionLike: TypeAlias = ActionFunction[..., Any] | Action | Mapping[str, Any] | str


class Workflow:
    """A token graph. Runs begin at its first node, unless `initial_node` names another."""

    def __init__(
        self,
        name: str,
        *,
        input: Shape | None = None,
        state: Shape | None = None,
        output: Shape | None = None,
        initial_node: str | None = None,
        output_mapping: Expressions | None = None,
        timeout_ms: int | None = None,
        on_no_match: Literal["fail", "complete"] | None = None,
        limits: Mapping[str, int] | None = None,
        description: str | None = None,
        tags: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self._initial_node = initial_node
        self._about = given_values(
            input_schema=schema_from(input, f"workflows.{name}.input_schema"),
            state_schema=schema_from(state, f"workflows.{name}.state_schema"),
            output_schema=schema_from(output, f"workflows.{name}.output_schema"),
            output_mapping=output_mapping,
            timeout_ms=timeout_ms,
            on_no_match=on_no_match,
            limits=limits,
            description=description,
            tags=tags or None,
        )
        self._nodes: dict[str, JsonObject] = {}
        self._transitions: list[JsonObject] = []
        self._actions: JsonObject = {}
        self._children: list[Workflow] = []

    def node(
        self,
        name: str,
        *,
        action: ActionLike | None = None,
        task: Task | Mapping[str, Any] | str | None = None,
        workflow: "Workflow | str | None" = None,
        gate: Mapping[str, Any] | None = None,
        wait: Mapping[str, Any] | None = None,
        agent: Mapping[str, Any] | str | None = None,
        input: Expressions | None = None,
        output: Expressions | None = None,
        fan_out: Literal["all", "first_match"] | None = None,
        fan_in: Synchronization | Literal["all", "any"] | None = None,
        on_failure: Literal["propagate", "catch"] | None = None,
        timeout_ms: int | None = None,
    ) -> NodeHandle:
        """Add a node. `input` and `output` are mappings; `on_failure` and `timeout_ms` are for a called workflow."""
        if name in self._nodes:
            raise builder_error(f"workflows.{self.name}.nodes.{name}", "already exists", "give it another name")
        self._nodes[name] = given_values(
            action=self._action(action),
            task=task,
            workflow=self._workflow(workflow),
            gate=gate,
            wait=wait,
            agent=agent,
            input_mapping=input,
            output_mapping=output,
            fan_out=fan_out,
            fan_in=fan_in,
            on_failure=on_failure,
            timeout_ms=timeout_ms,
        )
        return NodeHandle(self, name)

    def transition(
        self,
        source: NodeLike,
        target: NodeLike,
        *,
        condition: str | bool | None = None,
        priority: int | None = None,
        foreach: Any = None,
        item_var: str | None = None,
        max_parallel: int | None = None,
        spawn_count: int | str | None = None,
        sibling_group: str | None = None,
        synchronization: Synchronization | None = None,
        max_iterations: int | None = None,
    ) -> None:
        """Add a transition. `foreach` is a list or an expression for one; `max_iterations` bounds a loop."""
        items = None
        if foreach is not None:
            items = given_values(collection=foreach, item_var=item_var, max_parallel=max_parallel)
        self._transitions.append(
            given_values(
                **{"from": _name(source), "to": _name(target)},
                condition=condition,
                priority=priority,
                foreach=items,
                spawn_count=spawn_count,
                sibling_group=sibling_group,
                synchronization=synchronization,
                loop_config=None if max_iterations is None else {"max_iterations": max_iterations},
            )
        )

    def definition(self) -> dict[str, Json]:
        """The workflow, those it calls and the Python actions they use, as the content of a library file."""
        workflows: JsonObject = {}
        actions: JsonObject = {}
        self._collect(workflows, actions)
        return given_values(workflows=workflows, actions=actions or None)

    def _collect(self, workflows: JsonObject, actions: JsonObject) -> None:
        if self.name in workflows:
            return
        workflows[self.name] = {
            **self._about,
            "initial_node": self._initial_node or next(iter(self._nodes), ""),
            "nodes": dict(self._nodes),
            "transitions": list(self._transitions),
        }
        actions.update(self._actions)
        for child in self._children:
            child._collect(workflows, actions)

    def _action(self, action: ActionLike | None) -> object:
        if not isinstance(action, ActionFunction):
            return action
        self._actions[action.name] = builtins_of(action.action)
        return action.name

    def _workflow(self, workflow: "Workflow | str | None") -> str | None:
        if not isinstance(workflow, Workflow):
            return workflow
        self._children.append(workflow)
        return workflow.name


def given_values(**values: object) -> JsonObject:
    """The values as plain data, without those that are None."""
    return {key: builtins_of(value) for key, value in values.items() if value is not None}


def _name(node: NodeLike) -> str:
    return node if isinstance(node, str) else node.name


def schema_from(shape: Shape | None, path: str) -> Schema | None:
    """The schema of a shape. Raises DefinitionError at the path if it has none."""
    if shape is None or isinstance(shape, Mapping):
        return cast("Schema | None", shape)
    try:
        return schema_of(shape)
    except TypeError as error:
        raise builder_error(path, f"has no JSON Schema: {error}", f"use {PLAIN_DATA}, or a schema") from None


def builder_error(path: str, problem: str, remedy: str) -> DefinitionError:
    """A mistake in the use of the builder."""
    return DefinitionError((Problem("error", "bad_builder", "", 0, path, problem, remedy),))
