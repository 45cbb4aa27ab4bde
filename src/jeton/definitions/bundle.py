"""A library cut down to one workflow and what it can reach: what a version stores, and a run pins."""

from collections.abc import Iterator

from jeton.model.task import Action, Task
from jeton.model.workflow import Library, TaskTarget, Workflow, WorkflowTarget


def bundle_of(library: Library, name: str) -> Library:
    """The workflow with every task, action and workflow it can reach, and the project's settings."""
    workflows: dict[str, Workflow] = {}
    waiting = [name]
    while waiting:
        here = waiting.pop()
        if here in workflows or here not in library.workflows:
            continue
        workflows[here] = library.workflows[here]
        waiting += [child.partition("@")[0] for child in _children(workflows[here])]
    tasks = {ref: library.tasks[ref] for flow in workflows.values() for ref in _tasks(flow) if ref in library.tasks}
    inline = [task for flow in workflows.values() for task in _inline_tasks(flow)]
    actions: dict[str, Action] = {}
    for task in (*tasks.values(), *inline):
        for step in task.steps:
            if isinstance(step.action, str) and step.action in library.actions:
                actions[step.action] = library.actions[step.action]
    return Library(workflows=workflows, tasks=tasks, actions=actions, settings=library.settings)


def joined(first: Library, second: Library) -> Library:
    """Both; where they share a name, the second's."""
    return Library(
        workflows={**first.workflows, **second.workflows},
        tasks={**first.tasks, **second.tasks},
        actions={**first.actions, **second.actions},
        settings={**first.settings, **second.settings},
    )


def _children(workflow: Workflow) -> Iterator[str]:
    for node in workflow.nodes.values():
        if isinstance(node.target, WorkflowTarget):
            yield node.target.workflow


def _tasks(workflow: Workflow) -> Iterator[str]:
    for node in workflow.nodes.values():
        if isinstance(node.target, TaskTarget) and isinstance(node.target.task, str):
            yield node.target.task.partition("@")[0]


def _inline_tasks(workflow: Workflow) -> Iterator[Task]:
    for node in workflow.nodes.values():
        if isinstance(node.target, TaskTarget) and isinstance(node.target.task, Task):
            yield node.target.task
