"""Versions that a definition names, such as `workflow: child@2`: they must exist when it is deployed."""

from collections.abc import AsyncIterator, Iterator

from jeton.actor.definitions import bundle_hash
from jeton.actor.host import Reads
from jeton.definitions.bundle import bundle_of
from jeton.model.definition.workflow import Library, WorkflowTarget
from jeton.model.failure import DefinitionError, Problem
from jeton.model.reference import parse_reference


async def check_pins(reads: Reads, library: Library) -> None:
    """Raise DefinitionError for versions that are neither stored nor in the library, before anything is stored."""
    problems = [problem async for problem in _problems(reads, library)]
    if problems:
        raise DefinitionError(tuple(problems))


async def _problems(reads: Reads, library: Library) -> AsyncIterator[Problem]:
    for path, called in _calls(library):
        child, version = parse_reference(called)
        if version is None or await reads.bundle(child, version) is not None:
            continue
        available = await _library_version(reads, library, child)
        if available != version:
            problem = f"there is no version {version} of workflow '{child}'"
            remedy = f"write '{child}@{available}', which it has here, or '{child}'"
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


async def _library_version(reads: Reads, library: Library, name: str) -> int:
    """The version that the library's own definition has or will have: the one with the same content, or the next."""
    ours = bundle_hash(bundle_of(library, name))
    version = 1
    while (found := await reads.bundle(name, version)) is not None:
        if bundle_hash(found[0]) == ours:
            return version
        version += 1
    return version
