"""Deployment of definitions: versions, the project's account, and the triggers that a source declares."""

import msgspec

from jeton.actor.host import Host
from jeton.definitions.bundle import bundle_of, deployable
from jeton.engine.build.source import origins_of
from jeton.engine.deploy.paths import check_paths
from jeton.engine.deploy.pins import check_pins
from jeton.engine.deploy.sinks import place_sinks
from jeton.model.definition.workflow import Library
from jeton.model.failure import Problem
from jeton.planning.credits import balance_of


class Deployment(msgspec.Struct, frozen=True):
    """The version of each workflow and flow, of each agent as `agent:NAME`, and warnings about the definitions.

    `removed` are triggers that the same source declared before and does not declare any more."""

    versions: dict[str, int]
    warnings: tuple[Problem, ...]
    removed: tuple[str, ...] = ()


async def deploy_library(host: Host, library: Library, file: str | None, warnings: tuple[Problem, ...]) -> Deployment:
    """Store definitions that were loaded and checked. `file` is where they are declared."""
    await check_pins(host.reads, library)
    origins = origins_of(library, file)
    await check_paths(host.reads, library, origins)
    await place_sinks(host, library)
    versions = {name: await host.deploy(bundle_of(library, name), name) for name in deployable(library)}
    balance = balance_of(library.settings)
    if balance is not None:
        await host.open_account(balance)
    removed = await _deploy_triggers(host, library, file, origins)
    return Deployment(versions, warnings, tuple(removed))


async def _deploy_triggers(host: Host, library: Library, file: str | None, origins: tuple[str, ...]) -> list[str]:
    """Store the triggers of a file, and remove those that it does not declare any more."""
    known = {row.origin for row in await host.reads.triggers()} if origins else set[str]()
    if not library.triggers and known.isdisjoint(origins):
        return []  # the usual case, without a write
    return await host.deploy_triggers(library.triggers, file=file or "", origins=origins)
