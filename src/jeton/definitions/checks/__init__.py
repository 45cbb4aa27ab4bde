"""Checks of definitions before they run, one module per subject."""

from jeton.definitions.checks.calls import check_calls
from jeton.definitions.checks.compiled import compile_workflow
from jeton.definitions.checks.definitions import Definitions, all_definitions
from jeton.definitions.checks.expressions import check_expressions
from jeton.definitions.checks.failure_types import check_failure_types, known_failure_types
from jeton.definitions.checks.gates import check_gates
from jeton.definitions.checks.graph.branches import check_branches
from jeton.definitions.checks.graph.graph import Graph, graph_of
from jeton.definitions.checks.graph.joins import check_joins
from jeton.definitions.checks.graph.merges import check_merges
from jeton.definitions.checks.graph.quorum import check_quorum
from jeton.definitions.checks.graph.reach import check_reach
from jeton.definitions.checks.graph.routing import check_routing
from jeton.definitions.checks.implementations import ActionKinds, check_implementations
from jeton.definitions.checks.mappings import check_mappings
from jeton.definitions.checks.mcp import check_servers
from jeton.definitions.checks.names import check_names
from jeton.definitions.checks.prompts import check_prompts
from jeton.definitions.checks.sinks import check_sinks
from jeton.definitions.checks.tasks import check_tasks
from jeton.definitions.checks.types import WorkflowTypes
from jeton.definitions.library import LibrarySource
from jeton.definitions.report import Report
from jeton.model.definition.workflow import Library


def check_library(source: LibrarySource, known: Library, kinds: ActionKinds, report: Report) -> None:
    """Run all checks."""
    definitions = all_definitions(source, known)
    check_names(source, definitions, report)
    check_implementations(source, known, kinds, report)
    check_tasks(source, definitions, report)
    graphs = {name: graph_of(workflow) for name, workflow in source.workflows.items()}
    failure_types = known_failure_types(definitions)
    for graph in graphs.values():
        _check_workflow(graph, definitions, report)
        check_failure_types(graph, failure_types, report)
    check_calls(graphs, source.flows, report)
    if source.flows:
        _check_flows(source, definitions, report)
    if source.triggers:
        from jeton.definitions.checks.triggers import check_triggers

        check_triggers(source, definitions, report)
    check_prompts(source, definitions, report)
    check_servers(source, definitions, report)
    check_sinks(source, definitions, report)
    if source.model_profiles or source.tools or source.personas or source.agents:
        _check_agents(source, definitions, kinds, report)


# the checks of flows and of agents are loaded for those who have any


def _check_flows(source: LibrarySource, definitions: Definitions, report: Report) -> None:
    from jeton.definitions.checks.flow.graph import check_flow
    from jeton.definitions.checks.flow.nodes import check_flow_nodes

    for flow in source.flows.values():
        check_flow(flow, definitions, report)
        check_flow_nodes(flow, definitions, report)


def _check_agents(source: LibrarySource, definitions: Definitions, kinds: ActionKinds, report: Report) -> None:
    from jeton.definitions.checks.personas import check_personas
    from jeton.definitions.checks.profiles import check_profiles
    from jeton.definitions.checks.tools import check_tools

    check_profiles(source, definitions, kinds.providers, report)
    check_tools(source, definitions, report)
    check_personas(source, definitions, report)


def _check_workflow(graph: Graph, definitions: Definitions, report: Report) -> None:
    """Check one workflow. If part of its graph could not be read, checks for missing things are skipped."""
    compiled = compile_workflow(graph, report)
    types = WorkflowTypes(graph, compiled, definitions)
    check_expressions(graph, compiled, types, report)
    check_mappings(graph, compiled, types, definitions, report)
    check_gates(graph, report)
    if graph.source.whole:
        check_reach(graph, report)
        check_routing(graph, compiled, report)
        check_joins(graph, report)
        check_quorum(graph, compiled, report)
        check_merges(graph, report)
        check_branches(graph, compiled, report)
