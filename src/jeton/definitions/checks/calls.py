"""Checks of calls: workflows and flows that call themselves, directly or through others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from jeton.definitions.checks.graph.cycles import components, cycle_text, shortest_cycle
from jeton.definitions.checks.graph.graph import Graph, is_always, reached
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report
from jeton.model.definition.flow import MAIN, Connection, Flow
from jeton.model.definition.workflow import WorkflowTarget

if TYPE_CHECKING:
    from jeton.definitions.read.flow import FlowSource

BRANCHES_NEVER = (
    "trigger", "constant", "sum", "add", "subtract", "multiply", "divide", "merge", "template", "wait", "wait_until",
    "gate", "workflow", "agent",
)  # fmt: skip
"""Built-ins that never choose a branch. Results of workers and of `set` may."""

LARGE = 100  # of so many workflows that call each other, one call is reported instead of each


class _WorkflowCall(msgspec.Struct, frozen=True):
    """A node that calls a workflow or a flow; `certain` if every run reaches it."""

    caller: str
    location: SourceLocation
    callee: str
    certain: bool


def check_calls(graphs: dict[str, Graph], flows: dict[str, FlowSource], report: Report) -> None:
    """Report recursion: an error if it is unconditional, a warning if a condition may end it."""
    calls = [call for graph in graphs.values() for call in _calls(graph)]
    calls += [call for flow in flows.values() for call in _calls_of_flow(flow)]
    names = [*graphs, *flows]
    endless = _steps(call for call in calls if call.certain)
    possible = _steps(calls)
    hopeless = {name: each for each in components(names, endless) for name in each}
    doubtful = {name: each for each in components(names, possible) for name in each}
    told: set[frozenset[str]] = set()
    for call in calls:
        within = hopeless.get(call.caller, frozenset()) if call.certain else frozenset[str]()
        within = within if call.callee in within else doubtful.get(call.caller, frozenset())
        if call.callee not in within or within in told:
            continue
        if len(within) > LARGE:
            told.add(within)
        kind = "flow" if call.caller in flows else "workflow"
        if call.certain and within is hopeless.get(call.caller):
            cycle = cycle_text(shortest_cycle(call.caller, within, endless))
            problem = f"the {kind} calls itself without end: {cycle}, and nothing on the way is conditional"
            report.error(call.location, "recursive_workflow", problem, "make the call depend on a condition")
        else:
            cycle = cycle_text(shortest_cycle(call.caller, within, possible))
            problem = f"the {kind} calls itself: {cycle}, and only a condition ends it"
            report.warning(call.location, "recursive_workflow", problem, "make sure that the condition becomes false")


def _steps(calls: Iterable[_WorkflowCall]) -> dict[str, list[str]]:
    steps: dict[str, list[str]] = {}
    for call in calls:
        steps.setdefault(call.caller, []).append(call.callee)
    return steps


def _calls(graph: Graph) -> Iterator[_WorkflowCall]:
    certain = reached([graph.workflow.initial_node], _certain_steps(graph))
    for name, node in graph.workflow.nodes.items():
        if isinstance(node.target, WorkflowTarget):
            location = graph.source.node(name) / "workflow"
            yield _WorkflowCall(graph.workflow.name, location, node.target.workflow, name in certain)


def _calls_of_flow(source: FlowSource) -> Iterator[_WorkflowCall]:
    flow = source.flow
    certain = reached(_certain_roots(flow), _certain_connections(flow))
    for name, node in flow.nodes.items():
        callee = node.data.get("workflow")
        if node.type == "workflow" and isinstance(callee, str):
            yield _WorkflowCall(flow.name, source.node(name) / "data" / "workflow", callee, name in certain)


def _certain_roots(flow: Flow) -> list[str]:
    """The start nodes. With several triggers it is not known which one starts."""
    entered = {connection.target for connection in flow.connections}
    roots = [name for name in flow.nodes if name not in entered]
    triggers = [name for name in roots if flow.nodes[name].type == "trigger"]
    return roots if len(triggers) == 1 else [name for name in roots if name not in triggers]


def _certain_connections(flow: Flow) -> dict[str, list[str]]:
    """The nodes that always follow a node if nothing fails; none if connections may be ignored."""
    steps: dict[str, list[str]] = {}
    for connection in flow.connections if flow.cycles == "refuse" else ():
        if _is_delivered(flow, connection):
            steps.setdefault(connection.source, []).append(connection.target)
    return steps


def _is_delivered(flow: Flow, connection: Connection) -> bool:
    source = flow.nodes[connection.source]
    if source.type == "set":
        from jeton.definitions.checks.flow.handles import set_outputs

        return connection.from_output in (set_outputs(source) or ())
    return source.type in BRANCHES_NEVER and connection.from_output == MAIN


def _certain_steps(graph: Graph) -> dict[str, list[str]]:
    """The nodes that always follow a node if nothing fails."""
    steps: dict[str, list[str]] = {}
    for node in graph.workflow.nodes:
        first = _first_tier(graph, node)
        if graph.workflow.nodes[node].fan_out == "first_match":
            first = first[:1]
        steps[node] = [graph.transition(index).target for index in first if _is_certain(graph, index)]
    return steps


def _first_tier(graph: Graph, node: str) -> list[int]:
    for tier in graph.tiers(node):
        considered = [index for index in tier if not _only_after_failure(graph, index)]
        if considered:
            return considered
    return []


def _only_after_failure(graph: Graph, index: int) -> bool:
    condition = graph.transition(index).condition
    return isinstance(condition, str) and "state._last_error" in condition


def _is_certain(graph: Graph, index: int) -> bool:
    """Whether a transition is always followed. One with a list or count that may be empty is not."""
    transition = graph.transition(index)
    return is_always(transition) and transition.foreach is None and not isinstance(transition.spawn_count, str)
