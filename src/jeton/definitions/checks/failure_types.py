"""A check of conditions that compare the type of a failure: of a type that looks like a misspelt one."""

import re
from collections.abc import Iterator
from difflib import get_close_matches

from jeton.definitions.checks.definitions import Definitions
from jeton.definitions.checks.graph.graph import Graph
from jeton.definitions.report import LONGEST_COMPARED, Report, shown
from jeton.model.codes import FAILURES, REFUSALS
from jeton.model.definition.task import Action, Task
from jeton.model.definition.workflow import EndTarget, TaskTarget

COMPARED = re.compile(r"""state\._last_error\.type\s*[=!]=\s*(?:'([^']*)'|"([^"]*)")""")
ALIKE = 0.85  # exceptions and plugins have types that nobody knows beforehand, so only a near miss is reported


def known_failure_types(definitions: Definitions) -> frozenset[str]:
    """The types of all built-in failures, of refusals, and of every failure on purpose."""
    return frozenset((*FAILURES, *REFUSALS, *_own_types(definitions)))


def check_failure_types(graph: Graph, known: frozenset[str], report: Report) -> None:
    """Warn of a condition that compares the type of a failure with one that is nearly a known one."""
    for index, transition in enumerate(graph.workflow.transitions):
        if not isinstance(transition.condition, str):
            continue
        for found in COMPARED.finditer(transition.condition):
            compared = found[1] or found[2] or ""
            if compared in known or len(compared) > LONGEST_COMPARED:
                continue
            near = get_close_matches(compared, sorted(known), n=1, cutoff=ALIKE)
            if near:
                problem = f"no failure that jeton or this library makes has the type {shown(compared)}"
                location = graph.source.transition(index) / "condition"
                report.warning(location, "unknown_failure_type", problem, f"write '{near[0]}' if that is meant")


def _own_types(definitions: Definitions) -> Iterator[str]:
    tasks = list(definitions.tasks.values())
    for workflow in definitions.workflows.values():
        for node in workflow.nodes.values():
            match node.target:
                case EndTarget(failed) if failed is not None:
                    yield failed.type
                case TaskTarget(Task() as task):
                    tasks.append(task)
                case _:
                    pass
    steps = [step.action for task in tasks for step in task.steps]
    for action in (*definitions.actions.values(), *(each for each in steps if isinstance(each, Action))):
        yield from _type_in(action.implementation.get("type") if action.kind in ("assert", "fail") else None)
    for flow in definitions.flows.values():
        for flow_node in flow.nodes.values():
            if flow_node.type == "fail":
                yield from _type_in(flow_node.data.get("type"))


def _type_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
