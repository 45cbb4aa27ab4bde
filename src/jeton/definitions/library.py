"""Library files into one library: sections and names. A section's reader is loaded for files that have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from jeton.definitions.read.action import read_action
from jeton.definitions.read.fields import Fields, check_name, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.task import TaskSource, read_task
from jeton.definitions.read.workflow import WorkflowSource, read_workflow
from jeton.definitions.report import Report, shown
from jeton.definitions.text.files import SourceFile
from jeton.model.definition.agent import Agent, Persona, Prompt, Tool
from jeton.model.definition.task import Action
from jeton.model.definition.workflow import Library
from jeton.model.json import Json, JsonObject

if TYPE_CHECKING:
    from jeton.definitions.read.flow import FlowSource
    from jeton.definitions.read.profile import ProfileSource
    from jeton.definitions.read.trigger import TriggerSource

SECTIONS = (
    "workflows", "flows", "tasks", "actions", "triggers", "prompts", "model_profiles", "artifact_types", "tools",
    "personas", "agents", "project",
)  # fmt: skip
OF_AGENTS = ("model_profiles", "prompts", "tools", "personas", "agents")
STARTABLE = ("workflows", "flows")  # a name may be in only one of these, because a start gives the name alone
HINTS = {"settings": "write it under 'project:'", "name": "remove it: a library file has only sections"}


class ActionSource(msgspec.Struct, frozen=True):
    """An action and its location."""

    action: Action
    location: SourceLocation


Definition = TypeVar("Definition")


class Located(msgspec.Struct, Generic[Definition], frozen=True):
    """A definition and its location."""

    value: Definition
    location: SourceLocation


class LibrarySource(msgspec.Struct, frozen=True):
    """All definitions of a project with their locations."""

    workflows: dict[str, WorkflowSource]
    tasks: dict[str, TaskSource]
    actions: dict[str, ActionSource]
    settings: JsonObject
    flows: dict[str, FlowSource]
    triggers: dict[str, TriggerSource]
    model_profiles: dict[str, ProfileSource]
    prompts: dict[str, Located[Prompt]]
    tools: dict[str, Located[Tool]]
    personas: dict[str, Located[Persona]]
    agents: dict[str, Located[Agent]]
    setting_locations: dict[str, SourceLocation] = {}

    def all_tasks(self) -> Iterator[TaskSource]:
        """Named and inline tasks."""
        yield from self.tasks.values()
        for workflow in self.workflows.values():
            yield from workflow.inline_tasks.values()

    def library(self) -> Library:
        """The definitions without their locations."""
        return Library(
            workflows={name: source.workflow for name, source in self.workflows.items()},
            tasks={name: source.task for name, source in self.tasks.items()},
            actions={name: source.action for name, source in self.actions.items()},
            settings=self.settings,
            flows={name: source.flow for name, source in self.flows.items()},
            triggers={name: source.trigger for name, source in self.triggers.items()},
            model_profiles={name: source.profile for name, source in self.model_profiles.items()},
            prompts={name: source.value for name, source in self.prompts.items()},
            tools={name: source.value for name, source in self.tools.items()},
            personas={name: source.value for name, source in self.personas.items()},
            agents={name: source.value for name, source in self.agents.items()},
        )


def read_library(files: Iterable[SourceFile], report: Report) -> LibrarySource:
    """Read all files of a project as one library. A second definition of a name is reported."""
    found = _Found(report)
    for file in files:
        location = SourceLocation(file.name, file.document.mark)
        value = file.document.value
        written = {} if value is None else value  # an empty file is an empty library
        fields = fields_of(written, location, report, SECTIONS, "a library file", HINTS, "unknown_section")
        if fields is not None:
            found.take(fields)
    return found.source()


class _Found:
    """Collects the definitions of several files."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._places: dict[tuple[str, str], SourceLocation] = {}
        self._source = LibrarySource({}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})

    def source(self) -> LibrarySource:
        return self._source

    def take(self, fields: Fields) -> None:
        found, report = self._source, self._report
        for name, value, location in self._named(fields, "workflows"):
            found.workflows[name] = read_workflow(name, value, location, report)
        for name, value, location in self._named(fields, "flows"):
            from jeton.definitions.read.flow import read_flow

            found.flows[name] = read_flow(name, value, location, report)
        for name, value, location in self._named(fields, "triggers"):
            from jeton.definitions.read.trigger import read_trigger

            found.triggers[name] = read_trigger(name, value, location, report)
        for name, value, location in self._named(fields, "tasks"):
            found.tasks[name] = TaskSource(read_task(value, location, report), location)
        for name, value, location in self._named(fields, "actions"):
            found.actions[name] = ActionSource(read_action(value, location, report), location)
        if any(section in fields for section in OF_AGENTS):
            self._take_agents(fields)
        self._take_project(fields)
        self._check_artifact_types(fields)

    def _take_agents(self, fields: Fields) -> None:
        from jeton.definitions.read.persona import read_agent, read_persona
        from jeton.definitions.read.profile import read_profile
        from jeton.definitions.read.prompt import read_prompt
        from jeton.definitions.read.tool import read_tool

        found, report = self._source, self._report
        for name, value, location in self._named(fields, "model_profiles"):
            found.model_profiles[name] = read_profile(value, location, report)
        for name, value, location in self._named(fields, "prompts"):
            found.prompts[name] = Located(read_prompt(value, location, report), location)
        for name, value, location in self._named(fields, "tools"):
            found.tools[name] = Located(read_tool(name, value, location, report), location)
        for name, value, location in self._named(fields, "personas"):
            found.personas[name] = Located(read_persona(name, value, location, report), location)
        for name, value, location in self._named(fields, "agents"):
            found.agents[name] = Located(read_agent(name, value, location, report), location)

    def _named(self, fields: Fields, section: str) -> list[tuple[str, Json, SourceLocation]]:
        """The definitions of a section, without duplicates. The section may be empty."""
        definitions = None if fields.value(section) is None else fields.object(section)
        found: list[tuple[str, Json, SourceLocation]] = []
        for name, value in (definitions or {}).items():
            location = fields.location(section) / name
            check_name(name, location, self._report)
            kind = STARTABLE[0] if section in STARTABLE else section
            first = self._places.setdefault((kind, name), location)
            if first is not location:
                problem = f"{shown(name)} is defined a second time; the first is in {first.file}:{first.line}"
                self._report.error(location, "duplicate_definition", problem, "remove one of the two, or rename it")
                continue
            found.append((name, value, location))
        return found

    def _take_project(self, fields: Fields) -> None:
        if fields.value("project") is None:
            return
        from jeton.definitions.read.settings import check_setting

        project = fields.inner("project", ("settings",), "'project'")
        settings = project.object("settings") if project is not None else None
        for key, value in (settings or {}).items():
            location = fields.location("project") / "settings" / key
            first = self._places.setdefault(("project", key), location)
            if first is not location:
                problem = f"the setting {shown(key)} is duplicated; the first is in {first.file}:{first.line}"
                self._report.error(location, "duplicate_definition", problem, "keep one of the two")
            else:
                self._source.settings[key] = value
                self._source.setting_locations[key] = location
                check_setting(key, value, location, self._report)

    def _check_artifact_types(self, fields: Fields) -> None:
        """Check types of artifacts. A warning says that this version does not use them."""
        found = self._named(fields, "artifact_types")
        for _, value, location in found:
            from jeton.definitions.read.artifact_type import check_artifact_type

            check_artifact_type(value, location, self._report)
        if found:
            problem = "artifact types are checked, and this version does not use them"
            remedy = "leave the section out, unless it is for a later version"
            self._report.warning(fields.location("artifact_types"), "unsupported_section", problem, remedy)
