"""What the runs of a definition may call: programs, addresses, Python functions, other workflows.

For whoever imports a run that somebody else wrote, before it goes on.
"""

import shlex
from collections.abc import Iterator

import msgspec

from jeton.model.definition.agent import AgentTool, McpTool, WorkflowTool
from jeton.model.definition.flow import PURE_TYPES
from jeton.model.definition.task import Action, Task
from jeton.model.definition.workflow import AgentTarget, Library, TaskTarget, WorkflowTarget
from jeton.model.json import Json, JsonObject

MAX_SHOWN = 500
HARMLESS = ("artifact", "assert", "context", "metric", "mock")  # they touch nothing outside of the store
_TARGETS = {"http": "url", "python": "function", "node": "function", "emit": "event"}


class Call(msgspec.Struct, frozen=True, order=True):
    """A kind of action, or `workflow`, `agent`, `model` or `secret`, and what it calls: a program, a url, a function,
    a name."""

    kind: str
    target: str


def calls_of(bundle: Library) -> tuple[Call, ...]:
    """Everything that runs of a definition may call, whichever way they go, sorted."""
    return tuple(sorted({Call(kind, _short(target)) for kind, target in _calls(bundle)}))


def _calls(bundle: Library) -> Iterator[tuple[str, str]]:
    tasks = list(bundle.tasks.values())
    for workflow in bundle.workflows.values():
        for node in workflow.nodes.values():
            match node.target:
                case TaskTarget(task=Task() as task):
                    tasks.append(task)
                case WorkflowTarget(workflow=called):
                    yield "workflow", called
                case AgentTarget(agent=agent):
                    yield "agent", agent
                case _:
                    pass
    actions = [*bundle.actions.values(), *(s.action for t in tasks for s in t.steps if isinstance(s.action, Action))]
    for flow in bundle.flows.values():
        for box in flow.nodes.values():
            if box.type in ("workflow", "agent"):
                yield box.type, str(box.data.get(box.type, ""))
            elif box.type not in (*PURE_TYPES, "gate") and box.type not in (
                bundle.actions.keys() | bundle.tasks.keys()
            ):
                actions.append(Action(box.type, box.data))
    for action in actions:
        if action.kind not in HARMLESS:
            yield action.kind, _target(action, bundle.settings)
    yield from _calls_of_agents(bundle)
    yield from _secret_commands(bundle.settings)


def _calls_of_agents(bundle: Library) -> Iterator[tuple[str, str]]:
    """What the agents in a bundle call: models, with their fallbacks, and what their tools do."""
    waiting = [persona.model_profile for persona in bundle.personas.values()]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        profile = bundle.model_profiles.get(name)
        if profile is None or name in seen:
            continue
        seen.add(name)
        waiting += profile.fallbacks
        if profile.provider != "scripted":  # which answers by itself
            yield "model", " ".join(filter(None, (profile.provider, profile.model, profile.base_url)))
    for tool in bundle.tools.values():
        match tool.target:
            case WorkflowTool(workflow=called):
                yield "workflow", called
            case AgentTool(agent=agent):
                yield "agent", agent
            case McpTool(server=server, tool=called):
                yield "mcp", _mcp_tool(server, called, bundle.settings)
            case _:
                pass


def _target(action: Action, settings: JsonObject) -> str:
    match action.kind, action.implementation:
        case "shell", {"argv": [*argv], **rest}:
            return shlex.join([*(["/bin/sh", "-c"] if rest.get("shell") is True else []), *map(str, argv)])
        case "file", {"operation": str() as operation, "root": str() as root, **rest}:
            files = settings.get("files")
            folder = files.get(root, root) if isinstance(files, dict) else root
            return f"{operation} {folder}" + (f"/{rest['path']}" if rest.get("path") else "")
        case "mcp", {"server": str() as server, "tool": str() as tool}:
            return _mcp_tool(server, tool, settings)
        case kind, implementation if kind in _TARGETS:
            return str(implementation.get(_TARGETS[kind], ""))
        case _, implementation:  # of a plugin
            return msgspec.json.encode(implementation).decode()


def _mcp_tool(server: str, tool: str, settings: JsonObject) -> str:
    """A tool of an MCP server, with the program or the address behind the name: they come with the definition."""
    servers: Json = settings.get("mcp")
    match servers.get(server) if isinstance(servers, dict) else None:
        case {"command": [*argv]}:
            return f"{server} {tool}: {shlex.join(map(str, argv))}"
        case {"url": str() as url}:
            return f"{server} {tool}: {url}"
        case _:
            return f"{server} {tool}"


def _secret_commands(settings: JsonObject) -> Iterator[tuple[str, str]]:
    """Programs that are run to get secrets."""
    secrets: Json = settings.get("secrets")
    for source in secrets.values() if isinstance(secrets, dict) else ():
        match source:
            case {"command": [*argv]}:
                yield "secret", shlex.join(map(str, argv))
            case _:
                pass


def _short(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
