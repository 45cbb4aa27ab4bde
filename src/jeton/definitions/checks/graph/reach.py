"""Checks of reachability: unreachable nodes, and cycles without a limit."""

from jeton.definitions.checks.graph.cycles import cycle_text, example_cycles
from jeton.definitions.checks.graph.graph import Graph, reached, steps_over
from jeton.definitions.report import Report, shown
from jeton.model.definition.workflow import EndTarget


def check_reach(graph: Graph, report: Report) -> None:
    """Check that every node can be reached and every cycle has a limit."""
    workflow = graph.workflow
    found = reached([workflow.initial_node], steps_over(workflow.transitions))
    for node in workflow.nodes:
        if node not in found:
            problem = f"no transition leads from {shown(workflow.initial_node)} to {shown(node)}, so it never runs"
            remedy = "add a transition to it, or remove it"
            report.error(graph.source.node(node), "unreachable_node", problem, remedy)
    if workflow.timeout_ms is None:
        _check_cycles(graph, found, report)


def _check_cycles(graph: Graph, found: set[str], report: Report) -> None:
    """Warn once for each set of nodes that lead to each other without a loop limit."""
    going_on = {name for name in found if not isinstance(graph.workflow.nodes[name].target, EndTarget)}
    steps = steps_over(t for t in graph.workflow.transitions if t.loop_config is None and t.source in going_on)
    for cycle in example_cycles(graph.workflow.nodes, steps):
        problem = f"closes the cycle {cycle_text(cycle)}, and nothing limits it"
        remedy = "add 'loop_config: {max_iterations: …}' to one of its transitions, or 'timeout_ms' to the workflow"
        location = graph.source.transition(_closing(graph, cycle))
        report.warning(location, "cycle_without_bound", problem, remedy)


def _closing(graph: Graph, cycle: list[str]) -> int:
    """The transition that closes the cycle, where an author would put the limit."""
    for index in graph.outgoing[cycle[-1]]:
        if graph.transition(index).target == cycle[0] and graph.transition(index).loop_config is None:
            return index
    return graph.outgoing[cycle[-1]][0]
