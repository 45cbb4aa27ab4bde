"""Checks of references: names of definitions that do not exist."""

from collections.abc import Collection
from typing import Literal, TypeAlias

from jeton.definitions.checks.definitions import Definitions, name_referred_to
from jeton.definitions.library import LibrarySource
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.task import TaskSource
from jeton.definitions.read.workflow import WorkflowSource
from jeton.definitions.report import Report, did_you_mean, shown
from jeton.model.codes import ProblemCode
from jeton.model.definition.workflow import AgentTarget, TaskTarget, WorkflowTarget

Referred: TypeAlias = Literal["task", "action", "workflow", "agent", "persona", "tool", "prompt", "model profile"]
UNKNOWN: dict[Referred, ProblemCode] = {
    "task": "unknown_task",
    "action": "unknown_action",
    "workflow": "unknown_workflow",
    "agent": "unknown_agent",
    "persona": "unknown_persona",
    "tool": "unknown_tool",
    "prompt": "unknown_prompt",
    "model profile": "unknown_profile",
}
VERSIONED: tuple[Referred, ...] = ("task", "action", "workflow", "agent")  # others go with what names them


def check_names(source: LibrarySource, definitions: Definitions, report: Report) -> None:
    """Check that every task, action, workflow and agent that a workflow or task refers to exists."""
    for workflow in source.workflows.values():
        _check_targets(workflow, definitions, report)
    for task in source.all_tasks():
        _check_actions(task, definitions, report)


def _check_targets(source: WorkflowSource, definitions: Definitions, report: Report) -> None:
    for name, node in source.workflow.nodes.items():
        location = source.node(name)
        match node.target:
            case TaskTarget(str() as task):
                check_reference(task, "task", definitions.tasks, location / "task", report)
            case WorkflowTarget(workflow):
                check_reference(workflow, "workflow", definitions.startable, location / "workflow", report)
            case AgentTarget(agent):
                check_reference(agent, "agent", definitions.agents, location / "agent", report)
            case _:
                pass


def _check_actions(source: TaskSource, definitions: Definitions, report: Report) -> None:
    for index, step in enumerate(source.task.steps):
        if isinstance(step.action, str):
            check_reference(step.action, "action", definitions.actions, source.action(index), report)


def check_reference(
    reference: str, kind: Referred, known: Collection[str], location: SourceLocation, report: Report
) -> None:
    """Check that a reference is valid and that its definition exists."""
    if not reference:
        return  # already reported
    name = name_referred_to(reference)
    if name is None:
        problem = f"{shown(reference)} cannot be the name of a definition"
        report.error(location, "bad_name", problem, "write a name, or a name and a version like 'name@3'")
    elif name != reference and kind not in VERSIONED:
        problem = f"{shown(reference)} names a version, and a {kind} has none: it goes with what uses it"
        report.error(location, "bad_name", problem, f"write '{name}'")
    elif name not in known:
        problem = f"there is no {kind} called {shown(name)}"
        python = ", or name the Python that defines it with '--app'" if kind == "action" else ""
        remedy = did_you_mean(name, known, f"add it under '{kind.replace(' ', '_')}s:'{python}")
        report.error(location, UNKNOWN[kind], problem, remedy)
