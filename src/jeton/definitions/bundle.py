"""Bundles: one workflow or flow with everything it can reach, which a version stores and a run uses."""

from collections.abc import Iterator

from jeton.model.definition.flow import Flow
from jeton.model.definition.task import Action, Task
from jeton.model.definition.workflow import Library, TaskTarget, Workflow, WorkflowTarget
from jeton.model.reference import name_of


def bundle_of(library: Library, name: str) -> Library:
    """The bundle of a workflow or flow: reachable tasks, actions, workflows and flows, with settings and profiles."""
    workflows: dict[str, Workflow] = {}
    flows: dict[str, Flow] = {}
    waiting = [name]
    while waiting:
        here = waiting.pop()
        if here in library.workflows and here not in workflows:
            workflows[here] = library.workflows[here]
            waiting += [name_of(child) for child in _children(workflows[here])]
        elif here in library.flows and here not in flows:
            flows[here] = library.flows[here]
            waiting += [name_of(child) for child in _called(flows[here])]
    types = [name_of(node.type) for flow in flows.values() for node in flow.nodes.values()]
    refs = [ref for workflow in workflows.values() for ref in _tasks(workflow)]
    tasks = {ref: library.tasks[ref] for ref in (*refs, *types) if ref in library.tasks}
    actions: dict[str, Action] = {kind: library.actions[kind] for kind in types if kind in library.actions}
    inline = [task for workflow in workflows.values() for task in _inline_tasks(workflow)]
    for task in (*tasks.values(), *inline):
        for step in task.steps:
            if isinstance(step.action, str) and step.action in library.actions:
                actions[step.action] = library.actions[step.action]
    return Library(
        workflows=workflows,
        tasks=tasks,
        actions=actions,
        settings=library.settings,
        flows=flows,
        model_profiles=library.model_profiles,  # all of them: a function may name any
    )


def joined(first: Library, second: Library) -> Library:
    """Both libraries in one. Where they share a name, the second's definition is taken."""
    return Library(
        workflows={**first.workflows, **second.workflows},
        tasks={**first.tasks, **second.tasks},
        actions={**first.actions, **second.actions},
        settings={**first.settings, **second.settings},
        flows={**first.flows, **second.flows},
        triggers={**first.triggers, **second.triggers},
        model_profiles={**first.model_profiles, **second.model_profiles},
    )


def _children(workflow: Workflow) -> Iterator[str]:
    for node in workflow.nodes.values():
        if isinstance(node.target, WorkflowTarget):
            yield node.target.workflow


def _called(flow: Flow) -> Iterator[str]:
    for node in flow.nodes.values():
        workflow = node.data.get("workflow")
        if node.type == "workflow" and isinstance(workflow, str):
            yield workflow


def _tasks(workflow: Workflow) -> Iterator[str]:
    for node in workflow.nodes.values():
        if isinstance(node.target, TaskTarget) and isinstance(node.target.task, str):
            yield name_of(node.target.task)


def _inline_tasks(workflow: Workflow) -> Iterator[Task]:
    for node in workflow.nodes.values():
        if isinstance(node.target, TaskTarget) and isinstance(node.target.task, Task):
            yield node.target.task
