"""Checks of quorums: joins that wait for more branches than can arrive."""

from collections.abc import Iterator

from jeton.definitions.checks.compiled import CompiledWorkflow
from jeton.definitions.checks.graph.graph import Graph
from jeton.definitions.report import Report, shown
from jeton.model.definition.workflow import MOfN
from jeton.model.state.lineage import FanOut, Join


def check_quorum(graph: Graph, compiled: CompiledWorkflow, report: Report) -> None:
    """Check that every fan-out of a fixed size can meet the quorum of its joins."""
    for fan_out, joins in graph.lineage.joins.items():
        for join in joins:
            strategy = join.synchronization.strategy
            if isinstance(strategy, MOfN) and isinstance(strategy.m_of_n, int):
                _check(graph, compiled, fan_out, join, strategy.m_of_n, report)


def _check(graph: Graph, compiled: CompiledWorkflow, fan_out: FanOut, join: Join, needed: int, report: Report) -> None:
    location = graph.source.synchronization(join.transition) / "strategy"
    for routing in _routings(graph, fan_out):
        sizes = {index: _size(graph, compiled, index) for index in routing}
        arriving = [index for index in routing if _reaches(graph, index, fan_out, join)]
        if not arriving or any(sizes[index] is None for index in arriving):
            continue  # it leads elsewhere, or the number of branches is known only at run time
        total = sum(size or 0 for size in sizes.values())
        able = sum(sizes[index] or 0 for index in arriving)
        if None not in sizes.values() and needed > total:
            problem = f"waits for {needed} of the branches that {shown(fan_out.node)} makes, and it makes {total}"
            report.error(location, "m_of_n_too_large", problem, f"write {total} or less")
        elif needed > able:
            problem = (
                f"waits for {needed} branches, and of those that {shown(fan_out.node)} makes "
                f"only {able} can come to {shown(join.node)}"
            )
            report.error(location, "join_out_of_reach", problem, f"write {able} or less, or lead the others there too")


def _routings(graph: Graph, fan_out: FanOut) -> Iterator[list[int]]:
    """The sets of transitions that can create one group instance."""
    makers = set(graph.makers[fan_out])
    first_match = graph.workflow.nodes[fan_out.node].fan_out == "first_match"
    for tier in graph.tiers(fan_out.node):
        together = [index for index in tier if index in makers]
        if first_match:
            yield from ([index] for index in together if graph.transition(index).makes_slots)
        elif len(together) > 1 or any(graph.transition(index).makes_slots for index in together):
            yield together


def _size(graph: Graph, compiled: CompiledWorkflow, index: int) -> int | None:
    """The number of slots that a transition creates, if it is constant."""
    transition = graph.transition(index)
    if transition.foreach is not None:
        collection = compiled.collections.get(index)
        value = None if collection is None or collection.reads else collection.evaluate({})
        return len(value) if isinstance(value, list) else None
    if transition.spawn_count is not None:
        count = compiled.counts.get(index)
        value = None if count is None or count.reads else count.evaluate({})
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    return 1


def _reaches(graph: Graph, index: int, fan_out: FanOut, join: Join) -> bool:
    """Whether a branch that begins with this transition can reach the join before another join.

    Conditions count as possible and inner groups as left again, so a branch that is said not to get there never does.
    """
    seen: set[str] = set()
    waiting: list[int] = [index]
    while waiting:
        transition = graph.transition(waiting.pop())
        synchronization = transition.synchronization
        if synchronization is not None and synchronization.sibling_group in (None, fan_out.group):
            if transition.target == join.node:
                return True
            if synchronization.sibling_group == fan_out.group:
                continue
        if transition.target not in seen:
            seen.add(transition.target)
            waiting += graph.outgoing.get(transition.target, ())
    return False
