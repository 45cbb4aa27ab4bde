"""Every definition a reference may mean: those being loaded, and those known besides."""

import re

import msgspec

from jeton.definitions.library import LibrarySource
from jeton.definitions.read.place import NAME
from jeton.model.definition.flow import Flow
from jeton.model.definition.task import Action, Task
from jeton.model.definition.workflow import Library, Workflow

REFERENCE = re.compile(rf"({NAME.pattern})(@[1-9][0-9]*)?")


class Definitions(msgspec.Struct, frozen=True):
    """Definitions by name. A reference with a version finds the name, but what that version holds is not known here."""

    workflows: dict[str, Workflow]
    tasks: dict[str, Task]
    actions: dict[str, Action]
    agents: frozenset[str]
    flows: dict[str, Flow]

    def task(self, reference: str | Task) -> Task | None:
        return self.tasks.get(reference) if isinstance(reference, str) else reference

    def action(self, reference: str | Action) -> Action | None:
        return self.actions.get(reference) if isinstance(reference, str) else reference

    def workflow(self, reference: str) -> Workflow | None:
        return self.workflows.get(reference)


def all_definitions(source: LibrarySource, known: Library) -> Definitions:
    """What is being loaded hides what is known: it is about to become the newest version."""
    return Definitions(
        workflows={**known.workflows, **{name: found.workflow for name, found in source.workflows.items()}},
        tasks={**known.tasks, **{name: found.task for name, found in source.tasks.items()}},
        actions={**known.actions, **{name: found.action for name, found in source.actions.items()}},
        agents=source.agents,
        flows={**known.flows, **{name: found.flow for name, found in source.flows.items()}},
    )
