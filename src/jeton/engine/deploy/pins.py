"""Versions that a definition names, such as `workflow: child@2`: they must exist when it is deployed."""

from collections.abc import AsyncIterator, Iterator

from jeton.actor.definitions import bundle_hash
from jeton.actor.host import Reads
from jeton.definitions.bundle import bundle_of
from jeton.model.definition.agent import AgentTool, WorkflowTool, agent_bundle, agent_of
from jeton.model.definition.workflow import AgentTarget, Library, WorkflowTarget
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
            agent = agent_of(child)
            what, name = ("workflow", child) if agent is None else ("agent", agent)
            problem = f"there is no version {version} of {what} '{name}'"
            remedy = f"write '{name}@{available}', which it has here, or '{name}'"
            yield Problem("error", "unknown_version", "", 0, path, problem, remedy)


def _calls(library: Library) -> Iterator[tuple[str, str]]:
    """Everything that calls a workflow, a flow or an agent, and the reference to the bundle that it calls."""
    for workflow in library.workflows.values():
        for name, node in workflow.nodes.items():
            match node.target:
                case WorkflowTarget(called):
                    yield f"workflows.{workflow.name}.nodes.{name}.workflow", called
                case AgentTarget(agent):
                    yield f"workflows.{workflow.name}.nodes.{name}.agent", agent_bundle(agent)
                case _:
                    pass
    for flow in library.flows.values():
        for name, box in flow.nodes.items():
            data = f"flows.{flow.name}.nodes.{name}.data"
            match box.type, box.data:
                case "workflow", {"workflow": str() as called}:
                    yield f"{data}.workflow", called
                case "agent", {"agent": str() as agent}:
                    yield f"{data}.agent", agent_bundle(agent)
                case _:
                    pass
    yield from _calls_of_agents(library)


def _calls_of_agents(library: Library) -> Iterator[tuple[str, str]]:
    for tool in library.tools.values():
        match tool.target:
            case WorkflowTool(called):
                yield f"tools.{tool.name}.workflow", called
            case AgentTool(agent):
                yield f"tools.{tool.name}.agent", agent_bundle(agent)
            case _:
                pass
    for persona in library.personas.values():
        for key in ("context_assembly", "memory_extraction", "compaction"):
            called = getattr(persona, key)
            if called is not None:
                yield f"personas.{persona.name}.{key}", called


async def _library_version(reads: Reads, library: Library, name: str) -> int:
    """The version that the library's own definition has or will have: the one with the same content, or the next."""
    ours = bundle_hash(bundle_of(library, name))
    version = 1
    while (found := await reads.bundle(name, version)) is not None:
        if bundle_hash(found[0]) == ours:
            return version
        version += 1
    return version
