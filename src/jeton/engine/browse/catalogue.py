"""Deployed definitions: lists, versions, texts and graphs; and definitions that somebody sends as texts."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime
from os import pathsep
from pathlib import PurePath

import msgspec

from jeton.actor.queries.listing import SourceText, StoredVersion
from jeton.definitions import Loaded
from jeton.definitions.text.files import SUFFIXES
from jeton.definitions.write import written
from jeton.engine.build.source import load_texts
from jeton.engine.deploy.deploying import Deployment, deploy_library
from jeton.engine.lookup import Lookup
from jeton.engine.views.draw.graph import GraphView, as_graph
from jeton.engine.views.draw.picture import picture_of
from jeton.model.definition.agent import agent_of
from jeton.model.definition.workflow import Library
from jeton.model.failure import Refused
from jeton.model.json import JsonObject, Schema
from jeton.model.reference import parse_reference
from jeton.model.times import maybe_moment

MOST_FILES = 100
LONGEST_NAME = 500
MOST_GRAPHS = 200  # kept


class WorkflowRow(msgspec.Struct, frozen=True):
    """A workflow or flow, or an agent as `agent:NAME`. `version` is the one that new runs get."""

    name: str
    kind: str
    version: int
    versions: int
    disabled: bool


class VersionView(msgspec.Struct, frozen=True):
    """One version. `deployed_at` is when it was deployed for the first time, if that is known."""

    version: int
    hash: str
    deployed_at: datetime | None


class WorkflowView(msgspec.Struct, frozen=True):
    """A version of a definition with all that it uses, as the content of one file.

    `files` are the texts that it was deployed from, if it was deployed over HTTP or by `jeton serve`."""

    name: str
    kind: str
    version: int
    hash: str
    definition: JsonObject
    input_schema: Schema | None
    versions: tuple[VersionView, ...]
    files: tuple[SourceText, ...]


class Catalogue:
    """The definitions of one store."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._listing = lookup.host.listing
        self._graphs: OrderedDict[tuple[str, str], GraphView] = OrderedDict()  # by name and hash

    async def rows(self) -> tuple[WorkflowRow, ...]:
        """All that was deployed, by name."""
        disabled = await self._lookup.host.reads.disabled()
        rows: list[WorkflowRow] = []
        for name in await self._lookup.host.reads.deployed():
            library, version = await self._lookup.bundle(name)
            versions = await self._listing.versions(name)
            rows.append(WorkflowRow(name, kind_in(library, name), version, len(versions), name in disabled))
        return tuple(rows)

    async def view(self, reference: str) -> WorkflowView:
        """A version, or the one that new runs get."""
        library, name, found = await self._version(reference)
        versions = await self._listing.versions(name)
        definition = library.workflows.get(name) or library.flows.get(name)
        return WorkflowView(
            name,
            kind_in(library, name),
            found.version,
            found.hash,
            written(library),
            None if definition is None else definition.input_schema,
            tuple(VersionView(each.version, each.hash, maybe_moment(each.at)) for each in versions),
            await self._listing.source(name, found.version),
        )

    async def graph(self, reference: str) -> GraphView:
        """The graph of a version, which is laid out once. An agent has none."""
        library, name, found = await self._version(reference)
        key = name, found.hash
        if key not in self._graphs:
            self._graphs[key] = await asyncio.to_thread(graph_in, library, name)
            while len(self._graphs) > MOST_GRAPHS:
                self._graphs.popitem(last=False)
        self._graphs.move_to_end(key)
        return self._graphs[key]

    async def _version(self, reference: str) -> tuple[Library, str, StoredVersion]:
        name, number = parse_reference(reference)
        library, version = await self._lookup.bundle(name, number)
        versions = await self._listing.versions(name)
        found = next((each for each in versions if each.version == version), None)
        if found is None:  # it is only called by others
            raise Refused("unknown_workflow", f"'{reference}' was not deployed by itself", "deploy it first")
        return library, name, found

    async def deploy(self, files: Sequence[SourceText], loaded: Loaded | None = None) -> Deployment:
        """Deploy definitions that were sent as texts, and keep the texts. Raises DefinitionError with every problem.

        `loaded` is what they were read as, if they were. Nothing is started or imported for it: tools of MCP servers
        are pinned when they are first called."""
        read = loaded or (await asyncio.to_thread(checked_files, files))[0]
        origin = await self._origin([file.name for file in files])
        deployment = await deploy_library(self._lookup.host, read.require(), origin, read.problems)
        await self.keep_source(deployment, files)
        return deployment

    async def _origin(self, names: list[str]) -> str:
        """Where triggers of these files are declared: in files of the server that have the same names, if there are.

        So a text that replaces a file that `jeton serve` deployed also removes the triggers that it no longer has."""
        origins = {row.origin for row in await self._lookup.host.reads.triggers()}
        wanted = [PurePath(name).name for name in names]
        alike = [each for each in origins if [PurePath(part).name for part in each.split(pathsep)] == wanted]
        written = pathsep.join(names)
        return alike[0] if len(alike) == 1 and written not in origins else written

    async def keep_source(self, deployment: Deployment, files: Sequence[SourceText]) -> None:
        """Keep the texts of what was deployed, for editors."""
        if deployment.versions:
            await self._listing.keep_source(deployment.versions, files)


def check_files(files: Sequence[SourceText]) -> None:
    """Raise Refused for names that no files of definitions have."""
    remedy = f"name each file once, ending in {', '.join(SUFFIXES)}"
    if not 1 <= len(files) <= MOST_FILES:
        raise Refused("bad_argument", f"files: must be 1 to {MOST_FILES}", remedy)
    for number, file in enumerate(files):
        name = file.name
        if not name.endswith(SUFFIXES) or len(name) > LONGEST_NAME or not name.isprintable() or pathsep in name:
            raise Refused("bad_argument", f"files[{number}].name: is no name of a file of definitions", remedy)
    if len({file.name for file in files}) < len(files):
        raise Refused("bad_argument", "files: two of them have the same name", remedy)


def kind_in(library: Library, name: str) -> str:
    """What a deployed name is."""
    if agent_of(name) is not None:
        return "agent"
    return "workflow" if name in library.workflows else "flow"


def graph_in(library: Library, name: str) -> GraphView:
    """The graph of a workflow or flow; that of anything else is empty."""
    definition = library.workflows.get(name) or library.flows.get(name)
    return GraphView() if definition is None else as_graph(picture_of(definition))


def checked_files(files: Sequence[SourceText]) -> tuple[Loaded, dict[str, GraphView]]:
    """What is wrong with definitions, and their graphs as far as they can be drawn. Raises Refused."""
    check_files(files)
    loaded = load_texts((file.name, file.text) for file in files)
    graphs: dict[str, GraphView] = {}
    for name in (*loaded.library.workflows, *loaded.library.flows):
        try:
            graphs[name] = graph_in(loaded.library, name)
        except (KeyError, ValueError, IndexError):  # a graph with errors may lack nodes that it names
            continue
    return loaded, graphs
