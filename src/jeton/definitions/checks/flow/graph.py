"""Checks of flow graphs: cycles, the node limit, unknown types and handles."""

from jeton.definitions.checks.definitions import Definitions, name_referred_to
from jeton.definitions.checks.graph.cycles import cycle_text, example_cycles
from jeton.definitions.read.flow import FlowSource
from jeton.definitions.report import Report, did_you_mean, shown
from jeton.model.definition.flow import BUILT_IN_TYPES, CONTROL_KEYS, MAIN, Flow, FlowNode


def check_flow(source: FlowSource, definitions: Definitions, report: Report) -> None:
    """Check the nodes and connections of a flow."""
    _check_limit(source, report)
    _check_types(source, definitions, report)
    _check_handles(source, report)
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


def _check_handles(source: FlowSource, report: Report) -> None:
    """Warn of connections from handles that their node never produces."""
    made = {name: produced(source.flow, name) for name in source.flow.nodes}
    for index, connection in enumerate(source.flow.connections):
        handles = made[connection.source]
        if handles is not None and connection.from_output not in handles:
            kind = source.flow.nodes[connection.source].type
            problem = f"{shown(connection.source)} never produces {shown(connection.from_output)}: it is a '{kind}'"
            remedy = did_you_mean(connection.from_output, handles, "remove the connection")
            location = source.connection(index)
            report.warning(location / "from_output", "handle_without_output", problem, remedy)


def produced(flow: Flow, name: str) -> tuple[str, ...] | None:
    """The handles that a node can produce; None if that is known only at run time."""
    node = flow.nodes[name]
    match node.type:
        case "constant":
            return (MAIN, "value")
        case "sum" | "add" | "subtract" | "multiply" | "divide":
            return (MAIN, "result")
        case "template":
            return (MAIN, "text")
        case "set":
            return None if any(key in node.data for key in CONTROL_KEYS) else (MAIN, *node.data)
        case "fail":
            return (MAIN,)
        case "if_else":
            return ("true", "false")
        case "switch":
            return _cases(node)
        case "merge" | "wait" | "wait_until":
            incoming = (each.to_input for each in flow.connections if each.target == name)
            return tuple(dict.fromkeys((MAIN, *node.inputs, *incoming)))
        case _:
            return None


def _cases(node: FlowNode) -> tuple[str, ...] | None:
    cases = node.data.get("cases")
    return (*(str(case) for case in cases), "default") if isinstance(cases, list) else None


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
