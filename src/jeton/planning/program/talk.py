"""A compiled agent: its persona, and the calls of its turns as nodes.

A call of a turn is a token at one of these nodes, so that dispatch, deadlines, gates and child runs are those of any
run: `model`, `assembly`, `recall`, `similar`, `extraction`, `compaction`, `timeout`, `budget`, and `tool:NAME` for each
tool. Agents that may join the conversation have nodes of their own, with their name behind it.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from jeton.expression import Expression, compile_expression
from jeton.expression.mapping import CompiledMapping, compile_mapping
from jeton.expression.schema import SchemaValidator, compile_schema
from jeton.expression.templates.template import Template
from jeton.model.chat import ToolSpec
from jeton.model.definition.agent import (
    Agent,
    AgentTool,
    Approval,
    McpTool,
    Persona,
    TaskTool,
    Tool,
    WorkflowTool,
    agent_bundle,
)
from jeton.model.definition.profile import DEFAULT_MODEL_RETRY, ModelProfile
from jeton.model.definition.task import DEFAULT_TASK_TIMEOUT_MS, Action, Step, Task
from jeton.model.definition.tool_spec import tool_spec
from jeton.model.definition.workflow import (
    AgentTarget,
    GateTarget,
    Library,
    Node,
    Target,
    TaskTarget,
    WaitTarget,
    Workflow,
    WorkflowTarget,
)
from jeton.model.json import Json, JsonObject, Schema
from jeton.model.reference import name_of

TITLE_FUEL = 10_000
MODEL_CALL_MS = 120_000  # of one call of a model, where the profile does not say
APPROVAL_VARIABLES = ("input", "caller", "tainted")
TOOL_VARIABLES = ("input", "caller", "run")
APPROVAL_SCHEMA: Schema = {
    "type": "object",
    "required": ["decision"],
    "additionalProperties": False,
    "properties": {
        "decision": {"enum": ["approve", "edit", "refuse"]},
        "input": {},
        "reason": {"type": "string"},
        "for": {"enum": ["call", "conversation"]},
    },
}


BUDGET_SCHEMA: Schema = {
    "type": "object",
    "required": ["credits"],
    "additionalProperties": False,
    "properties": {"credits": {"type": "integer", "minimum": 0}},
}
FREE = ("timeout", "budget")  # kinds of calls that cost nothing


class CompiledTool(msgspec.Struct, frozen=True):
    """A compiled tool. `approval`: the condition under which a call needs approval; None if it never does."""

    definition: Tool
    spec: ToolSpec
    validator: SchemaValidator | None
    mapping: CompiledMapping | None
    approval: Expression | bool
    title: Any  # the template of the gate's title, if it has one
    untrusted: bool


class CompiledAgent(msgspec.Struct, frozen=True):
    """An agent of the conversation, with the names of its nodes."""

    name: str
    persona: Persona
    profile: ModelProfile
    suffix: str  # of its nodes' names
    overhead: int = 0  # bytes of the instructions and tools that stand before every request

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(name_of(tool) for tool in self.persona.tools)

    def node(self, kind: str) -> str:
        """The node of a kind of call."""
        return f"{kind}{self.suffix}"


class TalkProgram(msgspec.Struct, frozen=True):
    """Everything planning needs to know about an agent and those that may join it."""

    agent: str
    agents: dict[str, CompiledAgent]
    tools: dict[str, CompiledTool]
    library: Library
    version: int = 0
    at: Callable[[int], Any] | None = None  # the program of another version, for turns that began with it


def compile_talk(library: Library, agent: str) -> TalkProgram:
    """Compile an agent and all agents that may join its conversations."""
    joining = [name for name in _joining(library, agent) if name in library.agents]
    agents = {name: _compile_agent(library.agents[name], library, agent) for name in joining}
    names = sorted({tool for each in agents.values() for tool in each.tools if tool in library.tools})
    return TalkProgram(agent, agents, {name: _compile_tool(library.tools[name], library) for name in names}, library)


def talk_as_workflow(talk: TalkProgram) -> Workflow:
    """The calls of the agent's turns, as the nodes of a workflow without transitions."""
    nodes: dict[str, Node] = {f"tool:{name}": Node(_tool_target(tool, talk)) for name, tool in talk.tools.items()}
    for agent in talk.agents.values():
        nodes |= {agent.node(kind): Node(target) for kind, target in _agent_nodes(agent, talk)}
    return Workflow(name=agent_bundle(talk.agent), initial_node="", nodes=nodes)


def _joining(library: Library, agent: str) -> list[str]:
    """The agent, and all that it or they may loop in."""
    found, waiting = list[str](), [agent]
    while waiting:
        name = waiting.pop(0)
        if name in found or name not in library.agents:
            continue
        found.append(name)
        persona = library.personas[name_of(library.agents[name].persona)]
        tools = (library.tools.get(name_of(tool)) for tool in persona.tools)
        waiting += [
            name_of(tool.target.agent)
            for tool in tools
            if tool is not None and isinstance(tool.target, AgentTool) and tool.target.mode == "loop_in"
        ]
    return found


def _compile_agent(agent: Agent, library: Library, owner: str) -> CompiledAgent:
    persona = library.personas[name_of(agent.persona)]
    profile = library.model_profiles[name_of(persona.model_profile)]
    tools = [library.tools[name] for name in map(name_of, persona.tools) if name in library.tools]
    overhead = len(persona.instructions) + len(msgspec.json.encode(tools))
    return CompiledAgent(agent.name, persona, profile, "" if agent.name == owner else f":{agent.name}", overhead)


def _compile_tool(tool: Tool, library: Library) -> CompiledTool:
    approval = tool.needs_approval
    condition: Expression | bool = False
    if approval is not None:
        when = approval.when
        condition = compile_expression(when, APPROVAL_VARIABLES) if isinstance(when, str) else when
    spec = tool_spec(tool, library)
    return CompiledTool(
        definition=tool,
        spec=spec,
        validator=compile_schema(spec.input_schema),
        mapping=None if tool.input_mapping is None else compile_mapping(tool.input_mapping, TOOL_VARIABLES),
        approval=condition,
        title=Template(approval.title, TITLE_FUEL) if approval is not None and approval.title else None,
        untrusted=_is_untrusted(tool, library),
    )


def _is_untrusted(tool: Tool, library: Library) -> bool:
    if tool.untrusted is not None or not isinstance(tool.target, McpTool):
        return bool(tool.untrusted)
    servers = library.settings.get("mcp")
    server = servers.get(tool.target.server) if isinstance(servers, dict) else None
    return not (isinstance(server, dict) and server.get("trusted") is True)


def _tool_target(tool: CompiledTool, talk: TalkProgram) -> Target:
    definition = tool.definition
    match definition.target:
        case TaskTool(task):
            found = talk.library.tasks[name_of(task)]
            timeout = definition.timeout_ms or found.timeout_ms
            limits = {"timeout_ms": timeout, "max_result_bytes": definition.max_result_bytes}
            return TaskTarget(msgspec.structs.replace(found, retry=definition.retry or found.retry, **limits))
        case WorkflowTool(workflow):
            return WorkflowTarget(workflow, timeout_ms=definition.timeout_ms)
        case AgentTool(agent):
            return AgentTarget(agent, definition.output_schema, timeout_ms=definition.timeout_ms)
        case McpTool(server, name):
            action = Action("mcp", {"server": server, "tool": name})
            return TaskTarget(_one_step(action, definition.timeout_ms or DEFAULT_TASK_TIMEOUT_MS, definition))


def _one_step(action: Action, timeout_ms: int, tool: Tool | None = None) -> Task:
    step = Step(action, ref=action.kind)
    return Task((step,), timeout_ms=timeout_ms, retry=None if tool is None else tool.retry, of_action=True)


def _agent_nodes(agent: CompiledAgent, talk: TalkProgram) -> Iterator[tuple[str, Target]]:
    persona = agent.persona
    yield "model", TaskTarget(_one_step(_model_action(agent, talk), _model_timeout(agent, talk.library)))
    yield "timeout", WaitTarget(seconds=0)
    yield "budget", GateTarget("")
    if persona.context_assembly is not None:
        yield "assembly", WorkflowTarget(persona.context_assembly)
    if persona.memory is not None:
        implementation: JsonObject = {"operation": "search", "agent": agent.name, "scope": persona.memory.scope}
        yield "recall", TaskTarget(_one_step(Action("memory", implementation), DEFAULT_TASK_TIMEOUT_MS))
    if persona.memory_extraction is not None:
        search: JsonObject = {"operation": "search", "agent": agent.name}
        yield "similar", TaskTarget(_one_step(Action("memory", search), DEFAULT_TASK_TIMEOUT_MS))
        yield "extraction", WorkflowTarget(persona.memory_extraction)
    elif persona.memory is not None:
        yield "extraction", TaskTarget(_one_step(_extract_action(agent), _model_timeout(agent, talk.library)))
    if persona.compaction is not None:
        yield "compaction", WorkflowTarget(persona.compaction)
    else:
        yield (
            "compaction",
            TaskTarget(_one_step(Action("summarise", _fixed(agent)), _model_timeout(agent, talk.library))),
        )


def _model_action(agent: CompiledAgent, talk: TalkProgram) -> Action:
    specs = [talk.tools[name].spec for name in agent.tools if name in talk.tools]
    tools: Json = msgspec.to_builtins(specs)
    return Action("model", {**_fixed(agent), "instructions": agent.persona.instructions, "tools": tools})


def _extract_action(agent: CompiledAgent) -> Action:
    memory = agent.persona.memory
    types: Json = {} if memory is None else msgspec.to_builtins(memory.types)
    scope = "agent" if memory is None else memory.scope
    fixed = {**_fixed(agent), "instructions": agent.persona.instructions}
    return Action("extract", {**fixed, "types": types, "scope": scope})


def _fixed(agent: CompiledAgent) -> JsonObject:
    return {"profile": name_of(agent.persona.model_profile), "agent": agent.name, "persona": agent.persona.name}


def _model_timeout(agent: CompiledAgent, library: Library) -> int:
    """Long enough for every retry of every profile that is tried."""
    profiles = [agent.profile, *(library.model_profiles[name_of(name)] for name in agent.profile.fallbacks)]
    total = 0
    for profile in profiles:
        policy = profile.retry_policy or DEFAULT_MODEL_RETRY
        total += policy.max_attempts * ((profile.timeout_ms or MODEL_CALL_MS) + (policy.max_delay_ms or 60_000))
    return max(DEFAULT_TASK_TIMEOUT_MS, total)


def approval_of(tool: CompiledTool) -> Approval:
    """The approval that calls of a tool need."""
    return tool.definition.needs_approval or Approval()
