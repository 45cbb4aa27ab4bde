"""Checks of flow graphs: cycles, the node limit and unknown types."""

from jeton.definitions.checks.definitions import Definitions, name_referred_to
from jeton.definitions.checks.flow.handles import check_handles
from jeton.definitions.checks.flow.inputs import check_inputs
from jeton.definitions.checks.graph.cycles import cycle_text, example_cycles
from jeton.definitions.read.flow import FlowSource
from jeton.definitions.report import Report, did_you_mean, shown
from jeton.model.definition.flow import BUILT_IN_TYPES, Flow


def check_flow(source: FlowSource, definitions: Definitions, report: Report) -> None:
    """Check the nodes and connections of a flow."""
    _check_limit(source, report)
    _check_types(source, definitions, report)
    check_handles(source, definitions, report)
    check_inputs(source, definitions, report)
    if source.flow.cycles == "refuse":
        _check_cycles(source, report)


def _check_limit(source: FlowSource, report: Report) -> None:
    count, limit = len(source.flow.nodes), source.flow.limits.max_nodes
    if count > limit:
        problem = f"has {count} nodes, and a run of it fails if more than {limit} run"
        remedy = f"write 'limits: {{max_nodes: {count}}}', or split the flow"
        report.warning(source.location, "too_many_nodes", problem, remedy)


def _check_types(source: FlowSource, definitions: Definitions, report: Report) -> None:
    """Warn of unknown types. Not an error, because a Python node may be registered later."""
    known = {*BUILT_IN_TYPES, *definitions.tasks, *definitions.actions}
    for name, node in source.flow.nodes.items():
        if node.type and name_referred_to(node.type) not in known:
            problem = f"no task, action or built-in is called {shown(node.type)}, so the node fails when it runs"
            remedy = did_you_mean(node.type, sorted(known), "register a Python node of that name")
            report.warning(source.node(name) / "type", "unknown_node_type", problem, remedy)


def _check_cycles(source: FlowSource, report: Report) -> None:
    """Report one error for each set of nodes that lead to each other, with one cycle as an example."""
    flow = source.flow
    steps: dict[str, list[str]] = {}
    for connection in flow.connections:
        steps.setdefault(connection.source, []).append(connection.target)
    for cycle in example_cycles(flow.nodes, steps):
        problem = f"closes the cycle {cycle_text(cycle)}, and a node of a flow runs at most once"
        remedy = "remove a connection, or write 'cycles: ignore_back_edges'"
        report.error(source.connection(_closing(flow, cycle)), "flow_cycle", problem, remedy)


def _closing(flow: Flow, cycle: list[str]) -> int:
    """The connection that closes the cycle."""
    back = (cycle[-1], cycle[0])
    return next(index for index, each in enumerate(flow.connections) if (each.source, each.target) == back)
