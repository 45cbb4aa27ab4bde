"""Checks of routing: transitions that are never followed, and nodes without a default transition."""

from jeton.definitions.checks.compiled import CompiledWorkflow
from jeton.definitions.checks.graph.graph import Graph, is_never, is_unconditional
from jeton.definitions.report import Report, shown
from jeton.model.definition.workflow import EndTarget, Transition

ON_SUCCESS = "!has(state._last_error)"


def check_routing(graph: Graph, compiled: CompiledWorkflow, report: Report) -> None:
    """Check that each transition can be followed, and that each node with transitions has a default."""
    for name, node in graph.workflow.nodes.items():
        if isinstance(node.target, EndTarget):
            _check_end(graph, name, report)
            continue
        _check_winners(graph, compiled, name, report)
        _check_default(graph, name, report)


def _check_end(graph: Graph, node: str, report: Report) -> None:
    for index in graph.outgoing.get(node, ()):
        problem = f"can never be followed: {shown(node)} ends the run"
        report.warning(graph.source.transition(index), "transition_never_wins", problem, "remove it")


class _Ahead:
    """The earlier transitions that always match whenever a later one could."""

    def __init__(self) -> None:
        self._always: Transition | None = None
        self._conditions: dict[str, Transition] = {}

    def add(self, transition: Transition) -> None:
        if is_unconditional(transition):
            self._always = self._always or transition
        elif isinstance(transition.condition, str) and transition.loop_config is None:
            self._conditions.setdefault(transition.condition, transition)

    def reason_against(self, transition: Transition) -> str | None:
        if self._always is not None:
            return f"the one to {shown(self._always.target)} always matches and comes first"
        same = self._conditions.get(transition.condition) if isinstance(transition.condition, str) else None
        return f"the one to {shown(same.target)} has the same condition and comes first" if same else None


def _check_winners(graph: Graph, compiled: CompiledWorkflow, node: str, report: Report) -> None:
    """Warn of transitions that are never followed. A default does not hide those that handle failures."""
    first_match = graph.workflow.nodes[node].fan_out == "first_match"
    ahead = _Ahead()
    for tier in graph.tiers(node):
        for index in tier:
            transition = graph.transition(index)
            reason = None if compiled.handles_failure(index) else ahead.reason_against(transition)
            if is_never(transition):
                reason = "its condition is always false"
            if reason is not None:
                problem = f"can never be followed: {reason}"
                remedy = "remove it, or change its condition or priority"
                report.warning(graph.source.transition(index), "transition_never_wins", problem, remedy)
            if first_match:
                ahead.add(transition)
        for index in tier:
            ahead.add(graph.transition(index))


def _check_default(graph: Graph, node: str, report: Report) -> None:
    out = [graph.transition(index) for index in graph.outgoing.get(node, ())]
    if not out or graph.workflow.on_no_match == "complete" or any(_is_default(transition) for transition in out):
        return
    problem = "has transitions but none that always matches: when none does, the run fails"
    remedy = "add one without a condition and with the highest 'priority' number, or 'on_no_match: complete'"
    report.warning(graph.source.node(node), "no_default_transition", problem, remedy)


def _is_default(transition: Transition) -> bool:
    if is_unconditional(transition):
        return True
    condition = transition.condition
    return isinstance(condition, str) and condition.replace(" ", "") == ON_SUCCESS and not transition.loop_config
