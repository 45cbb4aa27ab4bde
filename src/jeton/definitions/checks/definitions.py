"""All definitions that references may name: those being loaded, and known ones."""

import msgspec

from jeton.definitions.library import LibrarySource
from jeton.definitions.read.location import NAME
from jeton.model.definition.agent import Agent, Persona, Prompt, Tool
from jeton.model.definition.flow import Flow
from jeton.model.definition.profile import ModelProfile
from jeton.model.definition.task import Action, Task
from jeton.model.definition.workflow import Library, Workflow
from jeton.model.failure import Refused
from jeton.model.json import JsonObject
from jeton.model.reference import parse_reference


class Definitions(msgspec.Struct, frozen=True):
    """Definitions by name. The content of a given version is not known here."""

    workflows: dict[str, Workflow]
    tasks: dict[str, Task]
    actions: dict[str, Action]
    flows: dict[str, Flow]
    prompts: dict[str, Prompt]
    tools: dict[str, Tool]
    personas: dict[str, Persona]
    agents: dict[str, Agent]
    model_profiles: dict[str, ModelProfile]
    settings: JsonObject

    @property
    def startable(self) -> dict[str, Workflow | Flow]:
        """Workflows and flows, of which no two have the same name."""
        return {**self.workflows, **self.flows}

    def task(self, reference: str | Task) -> Task | None:
        return self.tasks.get(reference) if isinstance(reference, str) else reference

    def action(self, reference: str | Action) -> Action | None:
        return self.actions.get(reference) if isinstance(reference, str) else reference

    def workflow(self, reference: str) -> Workflow | None:
        return self.workflows.get(reference)


def name_referred_to(reference: str) -> str | None:
    """The name in a reference as written in a file; None if it is no valid reference."""
    try:
        name = parse_reference(reference).name
    except Refused:
        return None
    return name if NAME.fullmatch(name) else None


def definitions_in(library: Library) -> Definitions:
    """All definitions of a library that was loaded before."""
    return Definitions(
        workflows=library.workflows,
        tasks=library.tasks,
        actions=library.actions,
        flows=library.flows,
        prompts=library.prompts,
        tools=library.tools,
        personas=library.personas,
        agents=library.agents,
        model_profiles=library.model_profiles,
        settings=library.settings,
    )


def all_definitions(source: LibrarySource, known: Library) -> Definitions:
    """All definitions. One being loaded replaces a known one of the same name."""
    return Definitions(
        workflows={**known.workflows, **{name: found.workflow for name, found in source.workflows.items()}},
        tasks={**known.tasks, **{name: found.task for name, found in source.tasks.items()}},
        actions={**known.actions, **{name: found.action for name, found in source.actions.items()}},
        flows={**known.flows, **{name: found.flow for name, found in source.flows.items()}},
        prompts={**known.prompts, **{name: found.value for name, found in source.prompts.items()}},
        tools={**known.tools, **{name: found.value for name, found in source.tools.items()}},
        personas={**known.personas, **{name: found.value for name, found in source.personas.items()}},
        agents={**known.agents, **{name: found.value for name, found in source.agents.items()}},
        model_profiles={**known.model_profiles, **{k: found.profile for k, found in source.model_profiles.items()}},
        settings={**known.settings, **source.settings},
    )
