"""Library files into one library: sections and names."""

from collections.abc import Iterable, Iterator

import msgspec

from jeton.definitions.read.action import read_action
from jeton.definitions.read.fields import Fields, check_name, fields_of
from jeton.definitions.read.flow import FlowSource, read_flow
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.profile import read_profile
from jeton.definitions.read.settings import check_setting
from jeton.definitions.read.task import TaskSource, read_task
from jeton.definitions.read.trigger import TriggerSource, read_trigger
from jeton.definitions.read.workflow import WorkflowSource, read_workflow
from jeton.definitions.report import Report, shown
from jeton.definitions.text.files import SourceFile
from jeton.model.definition.profile import ModelProfile
from jeton.model.definition.task import Action
from jeton.model.definition.workflow import Library
from jeton.model.json import Json, JsonObject

# Sections that this version reads but cannot run.
UNSUPPORTED = ("prompts", "artifact_types", "tools", "personas", "agents")
SECTIONS = ("workflows", "flows", "tasks", "actions", "triggers", "model_profiles", "project", *UNSUPPORTED)
STARTABLE = ("workflows", "flows")  # a name may be in only one of these, because a start gives the name alone
HINTS = {"settings": "write it under 'project:'", "name": "remove it: a library file has only sections"}


class ActionSource(msgspec.Struct, frozen=True):
    """An action and its location."""

    action: Action
    location: SourceLocation


class LibrarySource(msgspec.Struct, frozen=True):
    """All definitions of a project with their locations. Of agents only the names are read."""

    workflows: dict[str, WorkflowSource]
    tasks: dict[str, TaskSource]
    actions: dict[str, ActionSource]
    agents: frozenset[str]
    settings: JsonObject
    flows: dict[str, FlowSource]
    triggers: dict[str, TriggerSource]
    model_profiles: dict[str, ModelProfile]

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
            model_profiles=self.model_profiles,
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
        self._workflows: dict[str, WorkflowSource] = {}
        self._tasks: dict[str, TaskSource] = {}
        self._actions: dict[str, ActionSource] = {}
        self._agents: set[str] = set()
        self._settings: JsonObject = {}
        self._flows: dict[str, FlowSource] = {}
        self._triggers: dict[str, TriggerSource] = {}
        self._profiles: dict[str, ModelProfile] = {}

    def source(self) -> LibrarySource:
        agents = frozenset(self._agents)
        return LibrarySource(
            self._workflows,
            self._tasks,
            self._actions,
            agents,
            self._settings,
            self._flows,
            self._triggers,
            self._profiles,
        )

    def take(self, fields: Fields) -> None:
        report = self._report
        for name, value, location in self._named(fields, "workflows"):
            self._workflows[name] = read_workflow(name, value, location, report)
        for name, value, location in self._named(fields, "flows"):
            self._flows[name] = read_flow(name, value, location, report)
        for name, value, location in self._named(fields, "triggers"):
            self._triggers[name] = read_trigger(name, value, location, report)
        for name, value, location in self._named(fields, "tasks"):
            self._tasks[name] = TaskSource(read_task(value, location, report), location)
        for name, value, location in self._named(fields, "actions"):
            self._actions[name] = ActionSource(read_action(value, location, report), location)
        for name, value, location in self._named(fields, "model_profiles"):
            self._profiles[name] = read_profile(value, location, report)
        self._take_project(fields)
        self._refuse_unsupported(fields)

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
        project = fields.inner("project", ("settings",), "'project'")
        settings = project.object("settings") if project is not None else None
        for key, value in (settings or {}).items():
            location = fields.location("project") / "settings" / key
            first = self._places.setdefault(("project", key), location)
            if first is not location:
                problem = f"the setting {shown(key)} is duplicated; the first is in {first.file}:{first.line}"
                self._report.error(location, "duplicate_definition", problem, "keep one of the two")
            else:
                self._settings[key] = value
                check_setting(key, value, location, self._report)

    def _refuse_unsupported(self, fields: Fields) -> None:
        for section in UNSUPPORTED:
            if not fields.value(section):
                continue
            if section == "agents":
                self._agents.update(fields.object(section) or {})
            problem = f"this version cannot run {section.replace('_', ' ')} yet"
            self._report.error(
                fields.location(section), "unsupported_section", problem, "leave the section out for now"
            )
