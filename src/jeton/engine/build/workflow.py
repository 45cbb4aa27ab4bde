"""Workflows built in Python: the same plain data as a YAML file, checked in the same way when they are deployed."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

from jeton.engine.build.agent import Agent
from jeton.engine.build.flow import Flow
from jeton.engine.build.graph import GraphBuilder, NodeHandle, NodeLike, name_of
from jeton.engine.build.parts import Expressions, Shape, given_values
from jeton.executor import ActionFunction
from jeton.model.definition.task import Action, Task
from jeton.model.definition.workflow import Merge, MergeStrategy, MOfN, Strategy, Synchronization
from jeton.model.json import JsonObject

ActionLike: TypeAlias = ActionFunction[..., Any] | Action | Mapping[str, Any] | str


def join(
    strategy: Literal["all", "any"] = "all",
    *,
    m_of_n: int | str | None = None,
    sibling_group: str | None = None,
    merge: Merge | None = None,
    timeout_ms: int | str | None = None,
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


class Workflow(GraphBuilder):
    """A token graph. Runs begin at its first node, unless `initial_node` names another."""

    section = "workflows"

    def __init__(
        self,
        name: str,
        *,
        input: Shape | None = None,
        state: Shape | None = None,
        output: Shape | None = None,
        initial_node: str | None = None,
        output_mapping: Expressions | None = None,
        timeout_ms: int | str | None = None,
        on_no_match: Literal["fail", "complete"] | None = None,
        limits: Mapping[str, int] | None = None,
        description: str | None = None,
        tags: tuple[str, ...] = (),
    ) -> None:
        settings = {
            "output_mapping": output_mapping,
            "timeout_ms": timeout_ms,
            "on_no_match": on_no_match,
            "limits": limits,
            "description": description,
            "tags": tags or None,
        }
        super().__init__(name, {"input_schema": input, "state_schema": state, "output_schema": output}, settings)
        self._initial_node = initial_node
        self._transitions: list[JsonObject] = []

    def node(
        self,
        name: str,
        *,
        action: ActionLike | None = None,
        task: Task | Mapping[str, Any] | str | None = None,
        workflow: "Workflow | Flow | str | None" = None,
        gate: Mapping[str, Any] | None = None,
        wait: Mapping[str, Any] | None = None,
        agent: Agent | Mapping[str, Any] | str | None = None,
        end: Literal["completed"] | Mapping[str, Any] | None = None,
        input: Expressions | None = None,
        output: Expressions | None = None,
        fan_out: Literal["all", "first_match"] | None = None,
        fan_in: Synchronization | Literal["all", "any"] | None = None,
        on_failure: Literal["propagate", "catch"] | None = None,
        timeout_ms: int | str | None = None,
    ) -> NodeHandle:
        """Add a node. `input` and `output` are mappings; `on_failure` and `timeout_ms` are for a called workflow."""
        fields = {
            "action": self._action(action, f"nodes.{name}.action"),
            "task": self._task(task, f"nodes.{name}.task"),
            "workflow": self._name_of_called(workflow),
            "gate": gate,
            "wait": wait,
            "agent": self._asked(agent),
            "end": end,
            "input_mapping": input,
            "output_mapping": output,
            "fan_out": fan_out,
            "fan_in": fan_in,
            "on_failure": on_failure,
            "timeout_ms": timeout_ms,
        }
        return self._add(name, fields, self.transition)

    def transition(
        self,
        source: NodeLike,
        target: NodeLike,
        *,
        condition: str | bool | None = None,
        priority: int | None = None,
        foreach: Any = None,
        item_var: str | None = None,
        max_parallel: int | str | None = None,
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
                **{"from": name_of(source), "to": name_of(target)},
                condition=condition,
                priority=priority,
                foreach=items,
                spawn_count=spawn_count,
                sibling_group=sibling_group,
                synchronization=synchronization,
                loop_config=None if max_iterations is None else {"max_iterations": max_iterations},
            )
        )

    def _graph(self) -> JsonObject:
        return {
            **self._settings,
            "initial_node": self._initial_node or next(iter(self._nodes), ""),
            "nodes": dict(self._nodes),
            "transitions": list(self._transitions),
        }

    def _action(self, action: object, path: str) -> object:
        if isinstance(action, ActionFunction):
            return self._registered(cast("ActionFunction[..., Any]", action))
        if callable(action):
            remedy = "write @jeton.action above its definition"
            raise self._definition_error(path, "is a plain function, not an action", remedy)
        return action

    def _task(self, task: Task | Mapping[str, Any] | str | None, path: str) -> object:
        """The task with functions in its steps replaced by their names."""
        steps: object = task.get("steps") if isinstance(task, Mapping) else None
        if not isinstance(task, Mapping) or not isinstance(steps, list | tuple):
            return task
        named = [self._step(step, f"{path}.steps[{index}]") for index, step in enumerate(cast("list[object]", steps))]
        return {**task, "steps": named}

    def _step(self, step: object, path: str) -> object:
        if not isinstance(step, Mapping):
            return step
        fields = cast("Mapping[str, object]", step)
        return {
            key: self._action(value, f"{path}.action") if key == "action" else value for key, value in fields.items()
        }

    def _asked(self, agent: Agent | Mapping[str, Any] | str | None) -> object:
        """The name of an agent, or the object with one, of which the name may be an agent built in Python."""
        if not isinstance(agent, Mapping):
            return self._name_of_called(agent)
        return {key: self._name_of_called(each) if isinstance(each, Agent) else each for key, each in agent.items()}
