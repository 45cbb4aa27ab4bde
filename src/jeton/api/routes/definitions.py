"""Definitions: what is deployed, and what somebody sends to be checked, tried or deployed."""

from typing import cast

import msgspec
from msgspec import UNSET, UnsetType

from jeton.actor.queries.listing import SourceText
from jeton.api.apart.jobs import Check, Simulate
from jeton.api.route import MIB, Answer, Call, Nothing, Route, route
from jeton.api.views import Checked, Deployed, Enabled, Workflows
from jeton.engine.browse.catalogue import WorkflowView
from jeton.engine.views.draw.graph import GraphView
from jeton.engine.views.plain import plain
from jeton.model.failure import Refused
from jeton.model.json import Json
from jeton.testing.trials import EVERY_FAULT, USUAL_FAULTS, FaultKind, Report

MAX_DEFINITIONS = 4 * MIB
MAX_SEEDS = 200


class FileBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of definitions: its name, which ends in .yaml, .yml or .json, and its text."""

    name: str
    text: str


class FilesBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    files: list[FileBody]


class SimulateBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`faults`: true for the usual ones, or the kinds by name. Without an input, one is made from its schema."""

    files: list[FileBody]
    name: str | None = None
    input: Json | UnsetType = UNSET
    seeds: int = 100
    faults: bool | list[str] = False


async def list_workflows(call: Call[Nothing, Nothing]) -> Answer:
    """All that is deployed: workflows, flows, and agents as `agent:NAME`."""
    return Answer(plain(Workflows(await call.engine.browse.catalogue.rows())))


async def get_workflow(call: Call[Nothing, Nothing]) -> Answer:
    """A definition: by name, or a version of it as `name@3`."""
    return Answer(plain(await call.engine.browse.catalogue.view(call.path["workflow"])))


async def workflow_graph(call: Call[Nothing, Nothing]) -> Answer:
    """The graph of a definition as it is drawn: boxes, and the points of arrows."""
    return Answer(plain(await call.engine.browse.catalogue.graph(call.path["workflow"])))


async def enable_workflow(call: Call[Nothing, Nothing]) -> Answer:
    """Let triggers start a workflow or flow again."""
    await call.engine.enable(call.path["workflow"])
    return Answer(plain(Enabled(call.path["workflow"], disabled=False)))


async def disable_workflow(call: Call[Nothing, Nothing]) -> Answer:
    """Stop triggers from starting a workflow or flow. It can still be started by name."""
    await call.engine.disable(call.path["workflow"])
    return Answer(plain(Enabled(call.path["workflow"], disabled=True)))


async def deploy_definitions(call: Call[Nothing, FilesBody]) -> Answer:
    """Deploy definitions, all of them or none. Nothing is started or imported for it; the texts are kept."""
    files = _sources(call.body.files)
    checked = await call.server.checking.check(call.caller.id, Check(files))
    found = await call.engine.browse.catalogue.deploy(files, checked.loaded)
    return Answer(plain(Deployed(found.versions, found.warnings, found.removed)))


async def check_definitions(call: Call[Nothing, FilesBody]) -> Answer:
    """Check definitions, and lay out their graphs. Nothing is stored."""
    found = await call.server.checking.check(call.caller.id, Check(_sources(call.body.files)))
    return Answer(plain(Checked(found.loaded.ok, found.loaded.problems, found.graphs)))


async def simulate_definitions(call: Call[Nothing, SimulateBody]) -> Answer:
    """Run a workflow or flow of the files under many schedules, in simulated time, with made-up results."""
    body = call.body
    if not 1 <= body.seeds <= MAX_SEEDS:
        raise Refused("bad_argument", f"seeds: must be 1 to {MAX_SEEDS}", "try fewer seeds at a time")
    value = None if isinstance(body.input, UnsetType) else (body.input,)
    job = Simulate(_sources(body.files), body.name, body.seeds, _kinds(body.faults), value)
    return Answer(plain(await call.server.simulating.simulate(call.caller.id, job)))


def _kinds(faults: bool | list[str]) -> tuple[FaultKind, ...]:
    if isinstance(faults, bool):
        return USUAL_FAULTS if faults else ()
    unknown = [kind for kind in faults if kind not in EVERY_FAULT]
    if unknown:
        problem = f"faults: there is no '{unknown[0][:60]}'"
        raise Refused("bad_argument", problem, f"there are: {', '.join(EVERY_FAULT)}")
    return tuple(kind for kind in EVERY_FAULT if kind in cast("list[FaultKind]", faults))


def _sources(files: list[FileBody]) -> tuple[SourceText, ...]:
    return tuple(SourceText(file.name, file.text) for file in files)


ROUTES: tuple[Route, ...] = (
    route("GET", "/workflows", "read", list_workflows, {200: Workflows}, query=Nothing, body=Nothing),
    route(
        "GET", "/workflows/{workflow}", "read", get_workflow, {200: WorkflowView}, query=Nothing, body=Nothing,
        codes="unknown_workflow bad_argument",
    ),
    route(
        "GET", "/workflows/{workflow}/graph", "read", workflow_graph, {200: GraphView}, query=Nothing, body=Nothing,
        codes="unknown_workflow bad_argument",
    ),
    route(
        "POST", "/workflows/{workflow}/enable", "admin", enable_workflow, {200: Enabled}, query=Nothing, body=Nothing,
        codes="unknown_workflow",
    ),
    route(
        "POST", "/workflows/{workflow}/disable", "admin", disable_workflow, {200: Enabled}, query=Nothing,
        body=Nothing, codes="unknown_workflow",
    ),
    route(
        "POST", "/definitions", "admin", deploy_definitions, {200: Deployed}, query=Nothing, body=FilesBody,
        codes="definition_invalid duplicate_path", max_body=MAX_DEFINITIONS,
    ),
    route(
        "POST", "/check", "run", check_definitions, {200: Checked}, query=Nothing, body=FilesBody,
        max_body=MAX_DEFINITIONS,
    ),
    route(
        "POST", "/simulate", "run", simulate_definitions, {200: Report}, query=Nothing, body=SimulateBody,
        codes="definition_invalid unknown_workflow ambiguous input_invalid", max_body=MAX_DEFINITIONS,
    ),
)  # fmt: skip
