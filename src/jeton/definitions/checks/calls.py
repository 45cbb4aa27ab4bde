"""Workflows that call themselves, directly or through others."""

from collections.abc import Iterable, Iterator

import msgspec

from jeton.definitions.checks.cycles import components, way_round
from jeton.definitions.checks.graph import Graph, is_always, reached
from jeton.definitions.report import Report, shown
from jeton.model.workflow import WorkflowTarget


class _Call(msgspec.Struct, frozen=True):
    """A node that calls a workflow; `certain`, if every run comes to it."""

    caller: str
    node: str
    callee: str
    certain: bool


def check_calls(graphs: dict[str, Graph], report: Report) -> None:
    """A call that always leads to itself never ends; one with a condition on the way may, so it is only warned of."""
    calls = [call for graph in graphs.values() for call in _calls(graph)]
    endless = _steps(call for call in calls if call.certain)
    possible = _steps(calls)
    hopeless = {name: each for each in components(graphs, endless) for name in each}
    doubtful = {name: each for each in components(graphs, possible) for name in each}
    for call in calls:
        place = graphs[call.caller].source.node(call.node) / "workflow"
        if call.certain and call.callee in hopeless.get(call.caller, ()):
            around = way_round(call.caller, hopeless[call.caller], endless)
            problem = f"the workflow calls itself without end: {_drawn(around)}, and nothing on the way is conditional"
            report.error(place, "recursive_workflow", problem, "make the call depend on a condition")
        elif call.callee in doubtful.get(call.caller, ()):
            around = way_round(call.caller, doubtful[call.caller], possible)
            problem = f"the workflow calls itself: {_drawn(around)}, and only a condition ends it"
            report.warning(place, "recursive_workflow", problem, "make sure that the condition becomes false")


def _steps(calls: Iterable[_Call]) -> dict[str, list[str]]:
    steps: dict[str, list[str]] = {}
    for call in calls:
        steps.setdefault(call.caller, []).append(call.callee)
    return steps


def _calls(graph: Graph) -> Iterator[_Call]:
    certain = reached([graph.workflow.initial_node], _certain_steps(graph))
    for name, node in graph.workflow.nodes.items():
        if isinstance(node.target, WorkflowTarget):
            yield _Call(graph.workflow.name, name, node.target.workflow, name in certain)


def _certain_steps(graph: Graph) -> dict[str, list[str]]:
    """Which nodes always lead to which, when nothing fails."""
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
    """A list or a count may turn out empty, so a call for each of its items is not certain."""
    transition = graph.transition(index)
    return is_always(transition) and transition.foreach is None and not isinstance(transition.spawn_count, str)


def _drawn(around: list[str]) -> str:
    return " → ".join(shown(name).strip("'") for name in [*around, around[0]])
