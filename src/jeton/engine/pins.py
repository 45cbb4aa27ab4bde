"""Versions that a definition names: `workflow: child@2` must be there once the definition is."""

from collections.abc import Iterator

from jeton.definitions.bundle import bundle_of
from jeton.hosts.sqlite import SqliteHost
from jeton.hosts.sqlite.mirrors.bundles import bundle_hash
from jeton.model.definition.workflow import Library, WorkflowTarget
from jeton.model.failure import DefinitionError, Problem
from jeton.model.reference import parse_reference


def check_pins(host: SqliteHost, library: Library) -> None:
    """Raises DefinitionError for a version that neither the store has nor the library brings, before any is stored."""
    problems = tuple(_problems(host, library))
    if problems:
        raise DefinitionError(problems)


def _problems(host: SqliteHost, library: Library) -> Iterator[Problem]:
    for path, called in _calls(library):
        child, version = parse_reference(called)
        if version is None or host.bundle(child, version) is not None:
            continue
        brought = _brought(host, library, child)
        if brought != version:
            problem = f"there is no version {version} of workflow '{child}'"
            remedy = f"write '{child}@{brought}', which it has here, or '{child}'"
            yield Problem("error", "unknown_version", "", 0, path, problem, remedy)


def _calls(library: Library) -> Iterator[tuple[str, str]]:
    """Every node that calls a workflow or a flow, and what it calls."""
    for workflow in library.workflows.values():
        for name, node in workflow.nodes.items():
            if isinstance(node.target, WorkflowTarget):
                yield f"workflows.{workflow.name}.nodes.{name}.workflow", node.target.workflow
    for flow in library.flows.values():
        for name, box in flow.nodes.items():
            called = box.data.get("workflow")
            if box.type == "workflow" and isinstance(called, str):
                yield f"flows.{flow.name}.nodes.{name}.data.workflow", called


def _brought(host: SqliteHost, library: Library, name: str) -> int:
    """The version the library's own definition has, or will have: the one with the same content, or the next."""
    ours = bundle_hash(bundle_of(library, name))
    version = 1
    while (found := host.bundle(name, version)) is not None:
        if bundle_hash(found[0]) == ours:
            return version
        version += 1
    return version
