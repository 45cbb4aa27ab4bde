"""Workflows: plain data into the model, with every transition between existing nodes."""

from typing import TypeAlias

import msgspec

from jeton.definitions.check_schema import check_defaults
from jeton.definitions.read.fields import Fields, check_name, fields_of, known_node
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.node import read_node
from jeton.definitions.read.task import TaskSource
from jeton.definitions.read.transition import read_fan_in, read_transition
from jeton.definitions.report import Report, shown
from jeton.model.definition.task import Task
from jeton.model.definition.workflow import (
    DEFAULT_MAX_DEPTH,
    DEFAULT_MAX_NODE_EXECUTIONS,
    DEFAULT_MAX_TOKENS,
    Node,
    TaskTarget,
    Transition,
    Workflow,
    WorkflowLimits,
)
from jeton.model.json import Json, JsonObject

WORKFLOW_KEYS = (
    "input_schema", "state_schema", "output_schema", "initial_node", "nodes", "transitions", "output_mapping",
    "timeout_ms", "on_no_match", "limits", "description", "tags",
)  # fmt: skip
HINTS = {
    "name": "remove it: the key above is the name",
    "start": "write 'initial_node'",
    "edges": "write 'transitions'",
    "steps": "write 'nodes' and 'transitions', or make it a task",
}


class WorkflowSource(msgspec.Struct, frozen=True):
    """A workflow, with the location of each part."""

    workflow: Workflow
    location: SourceLocation
    written_at: tuple[int, ...]  # by transition: its index in the file, where malformed ones count too
    inline_tasks: dict[str, TaskSource]  # by node
    by_fan_in: frozenset[int]  # transitions whose synchronization is their target's `fan_in`
    whole: bool  # False: part of the graph could not be read, so checks for missing parts are skipped

    def node(self, name: str) -> SourceLocation:
        return self.location / "nodes" / name

    def transition(self, index: int) -> SourceLocation:
        return self.location / "transitions" / self.written_at[index]

    def synchronization(self, index: int) -> SourceLocation:
        if index in self.by_fan_in:
            return self.node(self.workflow.transitions[index].target) / "fan_in"
        return self.transition(index) / "synchronization"


def read_workflow(name: str, value: Json, location: SourceLocation, report: Report) -> WorkflowSource:
    """Read a workflow, as far as it can be read."""
    fields = fields_of(value, location, report, WORKFLOW_KEYS, "a workflow", HINTS)
    if fields is None:
        return WorkflowSource(Workflow(name, "", {}), location, (), {}, frozenset(), whole=False)
    fields.require("nodes", "initial_node")
    written = fields.object("nodes") or {}
    if "nodes" in fields and fields.value("nodes") == {}:
        report.error(fields.location("nodes"), "missing_key", "has no node", "add a node")
    nodes = {n: read_node(node, n, fields.location("nodes") / n, report) for n, node in written.items()}
    for node in nodes:
        check_name(node, fields.location("nodes") / node, report)
    initial, start_known = _initial_node(fields, nodes)
    graph = _transitions(fields, nodes)
    transitions, by_fan_in = _with_fan_ins(fields, written, graph)
    state_schema = fields.schema("state_schema")
    if state_schema is not None:
        check_defaults(state_schema, fields.location("state_schema"), report)
    workflow = Workflow(
        name=name,
        initial_node=initial,
        nodes=nodes,
        transitions=transitions,
        input_schema=fields.schema("input_schema"),
        state_schema=state_schema,
        output_schema=fields.schema("output_schema"),
        output_mapping=fields.object("output_mapping"),
        timeout_ms=fields.count("timeout_ms"),
        on_no_match=fields.choice("on_no_match", "fail", "complete"),
        limits=_limits(fields),
        description=fields.text("description"),
        tags=fields.texts("tags"),
    )
    misspelt = "transitions" not in fields and fields.unknown
    return WorkflowSource(
        workflow=workflow,
        location=location,
        written_at=graph.written_at,
        inline_tasks=_inline_tasks(written, nodes, fields.location("nodes")),
        by_fan_in=by_fan_in,
        whole=start_known and graph.whole and not misspelt,
    )


def _inline_tasks(written: JsonObject, nodes: dict[str, Node], location: SourceLocation) -> dict[str, TaskSource]:
    found: dict[str, TaskSource] = {}
    for name, node in nodes.items():
        match node.target, written[name]:
            case TaskTarget(Task() as task), {"task": _}:
                found[name] = TaskSource(task, location / name / "task")
            case TaskTarget(Task() as task), _:
                found[name] = TaskSource(task, location / name / "action", is_action=True)
            case _:
                pass
    return found


class _Graph(msgspec.Struct, frozen=True):
    transitions: tuple[Transition, ...]
    written_at: tuple[int, ...]
    whole: bool


def _initial_node(fields: Fields, nodes: dict[str, Node]) -> tuple[str, bool]:
    initial = fields.text("initial_node")
    meant = known_node(initial, nodes, fields.location("initial_node"), "starts at", fields.report)
    return meant or initial or "", meant is not None


def _transitions(fields: Fields, nodes: dict[str, Node]) -> _Graph:
    location, report = fields.location("transitions"), fields.report
    transitions: list[Transition] = []
    written_at: list[int] = []
    written = fields.list("transitions")
    known = fields.object("nodes") is not None and (written is not None or "transitions" not in fields)
    for index, value in enumerate(written or []):
        transition = read_transition(value, location / index, report)
        if transition is None:
            known = False
            continue
        source = known_node(transition.source, nodes, location / index / "from", "leads from", report)
        target = known_node(transition.target, nodes, location / index / "to", "leads to", report)
        if source is None or target is None:
            known = False
            continue
        transitions.append(msgspec.structs.replace(transition, source=source, target=target))
        written_at.append(index)
    return _Graph(tuple(transitions), tuple(written_at), known)


_Joined: TypeAlias = tuple[tuple[Transition, ...], frozenset[int]]


def _with_fan_ins(fields: Fields, nodes: JsonObject, graph: _Graph) -> _Joined:
    """The transitions, with each node's `fan_in` added to all that lead to it."""
    report = fields.report
    joined = list(graph.transitions)
    by_fan_in: set[int] = set()
    targets = {transition.target for transition in graph.transitions}
    for name, node in nodes.items():
        if not isinstance(node, dict) or "fan_in" not in node:
            continue
        location = fields.location("nodes") / name
        synchronization = read_fan_in(node["fan_in"], location, report)
        if graph.whole and name not in targets:
            problem = f"waits for siblings, and no transition leads to {shown(name)}"
            report.error(location / "fan_in", "join_without_group", problem, "remove it, or lead branches to it")
        for index, transition in enumerate(graph.transitions):
            if transition.target != name:
                continue
            if transition.synchronization is not None:
                problem = f"a transition from {shown(transition.source)} has a 'synchronization' of its own"
                report.error(location / "fan_in", "fan_in_twice", problem, "keep one of the two")
                continue
            joined[index] = msgspec.structs.replace(transition, synchronization=synchronization)
            by_fan_in.add(index)
    return tuple(joined), frozenset(by_fan_in)


def _limits(fields: Fields) -> WorkflowLimits:
    inner = fields.inner("limits", ("max_tokens", "max_node_executions", "max_depth"), "'limits'")
    if inner is None:
        return WorkflowLimits()
    return WorkflowLimits(
        max_tokens=inner.integer("max_tokens", at_least=1) or DEFAULT_MAX_TOKENS,
        max_node_executions=inner.integer("max_node_executions", at_least=1) or DEFAULT_MAX_NODE_EXECUTIONS,
        max_depth=inner.integer("max_depth", at_least=1) or DEFAULT_MAX_DEPTH,
    )
