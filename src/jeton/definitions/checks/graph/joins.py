"""Checks of joins: joins without a group, and joins of one group that disagree."""

import msgspec

from jeton.definitions.checks.graph.graph import Graph, reached, steps_over
from jeton.definitions.report import Report, did_you_mean, shown
from jeton.model.definition.workflow import Synchronization
from jeton.model.state.lineage import FanOut


def check_joins(graph: Graph, report: Report) -> None:
    """Check that every join has a group, and that joins of one group agree."""
    _check_groups(graph, report)
    _check_fan_ins(graph, report)
    _check_branch_failure(graph, report)


def _check_groups(graph: Graph, report: Report) -> None:
    found = reached([graph.workflow.initial_node], steps_over(graph.workflow.transitions))
    groups = sorted({t.sibling_group or t.source for t in graph.workflow.transitions})
    awaited = {
        (t.target, t.synchronization.sibling_group)
        for index, t in enumerate(graph.workflow.transitions)
        if t.synchronization is not None and index not in graph.lineage.passed_through
    }
    for index in graph.lineage.passed_through:
        transition = graph.transition(index)
        synchronization = transition.synchronization
        if synchronization is None or transition.source not in found:
            continue  # unreachable nodes are reported elsewhere
        if (transition.target, synchronization.sibling_group) in awaited:
            continue  # siblings meet there; a token from outside the group passes
        group = synchronization.sibling_group
        location = graph.source.synchronization(index)
        if group is None:
            problem = f"waits for siblings, and no token that comes from {shown(transition.source)} is in a branch"
            report.error(location, "join_without_group", problem, "remove it, or fan out before it")
            continue
        problem = (
            f"waits for the group {shown(group)}, and no token that comes from {shown(transition.source)} is in it"
        )
        others = [each for each in groups if each != group]
        remedy = did_you_mean(group, others, "remove it" if group in groups else f"name a fan-out {shown(group)}")
        report.error(location / "sibling_group", "join_without_group", problem, remedy)


def _check_fan_ins(graph: Graph, report: Report) -> None:
    """Check that all transitions to one fan-in have the same synchronization."""
    first: dict[tuple[FanOut, str], tuple[int, Synchronization]] = {}
    for index, transition in enumerate(graph.workflow.transitions):
        for joined in graph.joined(index):
            written = transition.synchronization or Synchronization()
            named = msgspec.structs.replace(written, sibling_group=joined.fan_out.group)
            before, agreed = first.setdefault((joined.fan_out, transition.target), (index, named))
            difference = _difference(agreed, named)
            if difference is not None:
                other = graph.transition(before).source
                problem = (
                    f"siblings that come from {shown(transition.source)} and from {shown(other)} meet at "
                    f"{shown(transition.target)}, and their '{difference}' differs"
                )
                remedy = f"write the same 'synchronization' on both, or one 'fan_in' on {shown(transition.target)}"
                report.error(graph.source.synchronization(index), "synchronization_disagrees", problem, remedy)
                break


def _difference(one: Synchronization, other: Synchronization) -> str | None:
    for key in one.__struct_fields__:
        if getattr(one, key) != getattr(other, key):
            return key
    return None


def _check_branch_failure(graph: Graph, report: Report) -> None:
    """Check that all joins of a group agree on failed branches, which have not arrived at any of them."""
    for fan_out, joins in graph.lineage.joins.items():
        for join in joins[1:]:
            if join.synchronization.on_branch_failure != joins[0].synchronization.on_branch_failure:
                problem = (
                    f"branches of {shown(fan_out.group)} are joined at {shown(joins[0].node)} too, "
                    f"where 'on_branch_failure' is '{joins[0].synchronization.on_branch_failure}'"
                )
                location = graph.source.synchronization(join.transition) / "on_branch_failure"
                remedy = "write the same 'on_branch_failure' at every join of the group"
                report.error(location, "on_branch_failure_disagrees", problem, remedy)
