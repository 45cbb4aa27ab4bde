"""A compiled workflow: expressions compiled, transitions in tiers by priority."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from jeton.expression import Expression, compile_expression
from jeton.expression.counts import Count, compile_count
from jeton.expression.mapping import TIMEOUT_VARIABLES, CompiledMapping, compile_mapping, compile_value
from jeton.expression.schema import SchemaValidator, compile_schema
from jeton.expression.templates.template import Template
from jeton.model.decision import Considered
from jeton.model.definition.task import Task
from jeton.model.definition.workflow import (
    AgentTarget,
    EndTarget,
    FailedEnd,
    GateTarget,
    Library,
    MOfN,
    Node,
    Synchronization,
    Target,
    TaskTarget,
    Transition,
    WaitTarget,
    Workflow,
    WorkflowTarget,
)
from jeton.model.json import Json, JsonObject, Schema
from jeton.model.reference import name_of
from jeton.model.state.lineage import Join

if TYPE_CHECKING:
    from jeton.planning.program.flow import FlowProgram
    from jeton.planning.program.talk import TalkProgram

LAST_ERROR = ("state", "_last_error")
TITLE_FUEL = 10_000
BASE_VARIABLES = ("input", "state", "output", "_branch", "run")
FLOW_VARIABLES = frozenset({"inputs", "context"})

JoinsKey = tuple[tuple[int, ...], str, tuple[str, ...]]
"""A group in the graph: the transitions that create it, its name, and the names of the groups around it."""


class CompiledTransition(msgspec.Struct, frozen=True):
    """A compiled transition."""

    index: int
    target: str
    condition: Expression | None
    handles_failure: bool
    collection: Expression | None
    spawn_count: Expression | None
    item_var: str | None
    max_parallel: Count | None
    needed: Expression | None  # of a quorum from data
    timeout: Count | None  # of its fan-in
    group: str | None
    makes_slots: bool
    synchronization: Synchronization | None
    max_iterations: int | None
    source: str  # the condition as text, for messages


class RoutingChoice(msgspec.Struct, frozen=True):
    """The matches of the first tier that has any, and every transition that was considered."""

    matches: tuple[CompiledTransition, ...]
    considered: tuple[Considered, ...]


class CompiledNode(msgspec.Struct, frozen=True):
    """A compiled node. `tiers`: its transitions by priority; `handlers`: only those that read the last error."""

    name: str
    definition: Node
    task: Task | None
    wait: WaitTarget | None
    seconds: Expression | None
    until: Expression | None
    input_mapping: CompiledMapping | None
    output_mapping: CompiledMapping | None
    tiers: tuple[tuple[CompiledTransition, ...], ...]
    handlers: tuple[tuple[CompiledTransition, ...], ...]
    validator: SchemaValidator | None = None  # of answers
    signals: dict[str, SchemaValidator | None] = {}  # that it waits for, each with the validator of its values
    text: Any = None  # the template of a gate's title, or of the message of a failed end
    timeout: Count | None = None  # of the task, or of what it waits for
    direct: RoutingChoice | None = None  # the only transition, if it has no condition, fan-out or loop limit


class Program(msgspec.Struct, frozen=True):
    """Everything planning needs to know about a workflow."""

    workflow: Workflow
    nodes: dict[str, CompiledNode]
    transitions: tuple[CompiledTransition, ...]
    output_mapping: CompiledMapping | None
    input_validator: SchemaValidator | None
    output_validator: SchemaValidator | None
    timeout: Count | None  # of the run
    state_validators: dict[str, SchemaValidator]  # by top-level key
    state_open: bool  # whether keys the schema does not name may be written
    default_state: JsonObject  # what a run begins with, by top-level key in order of names
    joins: dict[JoinsKey, tuple[Join, ...]]  # a cache
    flow: "FlowProgram | None" = None  # the graph, if the program is of a flow
    talk: "TalkProgram | None" = None  # the persona and tools, if the program is of an agent
    prices: dict[str, int] = msgspec.field(default_factory=dict[str, int])  # of nodes that do not cost one credit
    metered: bool = False  # the project's account pays
    hearers: dict[str, tuple[str, ...]] = {}  # by signal: the nodes that wait for it

    def price(self, node: str) -> int:
        """The price of a node in credits."""
        return self.prices.get(node, 1)


def compile_program(workflow: Workflow, library: Library) -> Program:
    """Compile a checked workflow. Tasks given by name are taken from the library."""
    variables = frozenset(BASE_VARIABLES) | {
        t.foreach.item_var for t in workflow.transitions if t.foreach and t.foreach.item_var
    }
    transitions = tuple(_compile_transition(i, t, variables) for i, t in enumerate(workflow.transitions))
    nodes = {
        name: _compile_node(name, node, workflow, library, transitions, variables)
        for name, node in workflow.nodes.items()
    }
    state_schema = workflow.state_schema or {}
    state_validators = _key_validators(state_schema)
    return Program(
        workflow=workflow,
        nodes=nodes,
        transitions=transitions,
        output_mapping=_mapping(workflow.output_mapping, ("input", "state", "output", "run")),
        input_validator=compile_schema(workflow.input_schema),
        output_validator=compile_schema(workflow.output_schema),
        timeout=_count(workflow.timeout_ms, TIMEOUT_VARIABLES),
        state_validators=state_validators,
        state_open=state_schema.get("additionalProperties", True) is not False,
        default_state=_default_state(state_schema, state_validators),
        joins={},
        hearers=_hearers(nodes),
    )


def _hearers(nodes: Mapping[str, CompiledNode]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for node in nodes.values():
        for name in node.signals:
            found[name] = (*found.get(name, ()), node.name)
    return found


def _mapping(mapping: Mapping[str, Json] | None, variables: Collection[str]) -> CompiledMapping | None:
    return None if mapping is None else compile_mapping(mapping, variables)


def _compile_transition(index: int, transition: Transition, variables: frozenset[str]) -> CompiledTransition:
    condition = None
    if transition.condition not in (True, "true"):
        condition = compile_value(transition.condition, variables | {"result"})
    return CompiledTransition(
        index=index,
        target=transition.target,
        condition=condition,
        handles_failure=condition is not None and any(path[:2] == LAST_ERROR for path in condition.reads),
        collection=compile_value(transition.foreach.collection, variables) if transition.foreach else None,
        spawn_count=None if transition.spawn_count is None else compile_value(transition.spawn_count, variables),
        item_var=transition.foreach.item_var if transition.foreach else None,
        max_parallel=_count(transition.foreach.max_parallel if transition.foreach else None, variables),
        needed=_needed(transition.synchronization),
        timeout=_count(transition.synchronization.timeout_ms if transition.synchronization else None, BASE_VARIABLES),
        group=transition.sibling_group,
        makes_slots=transition.makes_slots,
        synchronization=transition.synchronization,
        max_iterations=transition.loop_config.max_iterations if transition.loop_config else None,
        source=str(transition.condition),
    )


def _compile_node(
    name: str,
    node: Node,
    workflow: Workflow,
    library: Library,
    transitions: tuple[CompiledTransition, ...],
    variables: frozenset[str],
) -> CompiledNode:
    out = [(t.priority, transitions[i]) for i, t in enumerate(workflow.transitions) if t.source == name]
    if isinstance(node.target, EndTarget):
        out = []  # nothing follows the end of the run
    task = wait = None
    match node.target:
        case TaskTarget(task=str() as ref):
            task = library.tasks[ref if ref in library.tasks else name_of(ref)]
        case TaskTarget(task=Task() as inline):
            task = inline
        case WaitTarget():
            wait = node.target
        case _:
            pass
    return CompiledNode(
        name=name,
        definition=node,
        task=task,
        wait=wait,
        seconds=compile_value(wait.seconds, variables) if wait and wait.seconds is not None else None,
        until=compile_value(wait.until, variables) if wait and wait.until is not None else None,
        input_mapping=_mapping(node.input_mapping, variables),
        output_mapping=_mapping(node.output_mapping, variables | {"result"}),
        tiers=_tiers(out),
        handlers=_tiers([(priority, transition) for priority, transition in out if transition.handles_failure]),
        validator=compile_schema(node.target.schema) if isinstance(node.target, GateTarget) else None,
        signals={} if wait is None else {name: compile_schema(schema) for name, schema in wait.hears.items()},
        text=_template(node.target),
        timeout=_timeout(task, node, variables | FLOW_VARIABLES),
        direct=_direct([transition for _, transition in out]),
    )


def _template(target: Target | None) -> Template | None:
    match target:
        case GateTarget(title):
            return Template(title, TITLE_FUEL)
        case EndTarget(FailedEnd(_, message)):
            return Template(message, TITLE_FUEL)
        case _:
            return None


def _timeout(task: Task | None, node: Node, variables: frozenset[str]) -> Count | None:
    if task is not None:
        return compile_count(task.timeout_ms, TIMEOUT_VARIABLES)
    if isinstance(node.target, GateTarget | WaitTarget | WorkflowTarget | AgentTarget):
        return _count(node.target.timeout_ms, variables)
    return None


def _count(written: int | str | None, variables: Collection[str]) -> Count | None:
    return None if written is None else compile_count(written, variables)


def _needed(synchronization: Synchronization | None) -> Expression | None:
    """The quorum of a fan-in, if it is an expression."""
    strategy = None if synchronization is None else synchronization.strategy
    if isinstance(strategy, MOfN) and isinstance(strategy.m_of_n, str):
        return compile_expression(strategy.m_of_n, BASE_VARIABLES)
    return None


def _direct(transitions: list[CompiledTransition]) -> RoutingChoice | None:
    if len(transitions) != 1:
        return None
    (transition,) = transitions
    if transition.condition is not None or transition.makes_slots or transition.max_iterations is not None:
        return None
    return RoutingChoice((transition,), (Considered(transition.index, "matched"),))


def _tiers(transitions: list[tuple[int, CompiledTransition]]) -> tuple[tuple[CompiledTransition, ...], ...]:
    priorities = sorted({priority for priority, _ in transitions})
    return tuple(tuple(transition for p, transition in transitions if p == priority) for priority in priorities)


def _key_validators(schema: Schema) -> dict[str, SchemaValidator]:
    """One validator per top-level key, so that checking a write costs no more than the write."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    shared: JsonObject = {k: v for k, v in schema.items() if k in ("$defs", "definitions", "$schema", "$id")}
    return {
        key: SchemaValidator({**shared, **below} if isinstance(below, dict) else below is not False)
        for key, below in properties.items()
    }


def _default_state(schema: Schema, validators: Mapping[str, SchemaValidator]) -> JsonObject:
    """The defaults of top-level keys that fit their schema. A definition that was stored long ago may have others."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {
        key: below["default"]
        for key, below in sorted(properties.items())
        if isinstance(below, dict) and "default" in below and validators[key].problem(below["default"], key) is None
    }
