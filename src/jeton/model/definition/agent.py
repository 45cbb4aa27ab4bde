"""Agents: personas, tools, prompts and agents, as defined."""

from typing import Literal, TypeAlias

import msgspec

from jeton.model.definition.task import RetryPolicy
from jeton.model.json import Mapping, Schema

AGENT_PREFIX = "agent:"  # of the name under which the bundle of an agent is deployed; no definition's name has a colon
DEFAULT_RECENT_TURNS = 20
DEFAULT_MAX_MOVES = 20
DEFAULT_PARALLEL_TOOLS = 8
DEFAULT_RESULT_BYTES = 32_768
DEFAULT_RECALL = 8


class Example(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A worked example of a prompt: an input, and what the model is to answer."""

    input: str
    output: str


class Prompt(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A prompt: instructions, a template of what is asked, and examples."""

    template: str
    system: str = ""
    examples: tuple[Example, ...] = ()
    description: str | None = None
    tags: tuple[str, ...] = ()


class Approval(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """When a call of a tool needs approval, and by whom. `when` is a condition over `input`, `caller` and `tainted`."""

    when: bool | str = True
    title: str | None = None  # a template over `tool`, `input`, `caller` and `agent`
    assignees: tuple[str, ...] = ()
    approvals: int = 1
    timeout_ms: int | None = None
    on_timeout: Literal["refuse"] = "refuse"


class TaskTool(msgspec.Struct, frozen=True, tag="task"):
    """The tool runs a task."""

    task: str


class WorkflowTool(msgspec.Struct, frozen=True, tag="workflow"):
    """The tool runs a workflow or a flow, as a run of its own."""

    workflow: str


class AgentTool(msgspec.Struct, frozen=True, tag="agent", omit_defaults=True):
    """The tool asks another agent: in a conversation of its own, or by having it join this one."""

    agent: str
    mode: Literal["delegate", "loop_in"] = "delegate"


class McpTool(msgspec.Struct, frozen=True, tag="mcp"):
    """The tool is one of an MCP server."""

    server: str
    tool: str


ToolTarget: TypeAlias = TaskTool | WorkflowTool | AgentTool | McpTool


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool: what a model is told of it, what it does, and how it may be called."""

    name: str
    target: ToolTarget
    description: str = ""
    input_schema: Schema | None = None
    output_schema: Schema | None = None  # of the answer of an agent
    input_mapping: Mapping | None = None
    runs_async: bool = False
    once: bool = False
    exclusive: bool = False
    untrusted: bool | None = None  # None: only if it is of an MCP server that the project does not trust
    needs_approval: Approval | None = None
    retry: RetryPolicy | None = None
    timeout_ms: int | None = None
    max_result_bytes: int = DEFAULT_RESULT_BYTES
    tags: tuple[str, ...] = ()


class MemoryType(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A type of memory, with the schema of its metadata."""

    schema: Schema | None = None
    description: str | None = None


class MemoryPolicy(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an agent remembers, who shares it, and how much is recalled for a chat message."""

    types: dict[str, MemoryType] = {}
    scope: Literal["agent", "user"] = "agent"
    recall: int = DEFAULT_RECALL


class Budget(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The credits that a turn, a conversation, or an agent on one day may use, and what follows when they are used."""

    turn: int | None = None
    conversation: int | None = None
    agent_day: int | None = None
    on_empty: Literal["end", "ask"] = "end"


class Persona(msgspec.Struct, frozen=True, omit_defaults=True):
    """A reusable character: instructions, a model, tools and limits."""

    name: str
    model_profile: str
    instructions: str = ""  # a template over `agent`, `persona` and `run`
    tools: tuple[str, ...] = ()
    context_assembly: str | None = None
    memory_extraction: str | None = None
    compaction: str | None = None
    memory: MemoryPolicy | None = None
    recent_turns: int = DEFAULT_RECENT_TURNS
    max_moves_per_turn: int = DEFAULT_MAX_MOVES
    max_parallel_tools: int = DEFAULT_PARALLEL_TOOLS
    turn_timeout_ms: int | None = None
    budget: Budget | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()


class Agent(msgspec.Struct, frozen=True, omit_defaults=True):
    """An agent: a persona with a memory of its own."""

    name: str
    persona: str
    description: str | None = None
    tags: tuple[str, ...] = ()


def agent_bundle(agent: str) -> str:
    """The name under which an agent's bundle is deployed, so that a workflow may have the same name."""
    return f"{AGENT_PREFIX}{agent}"


def agent_of(bundle: str) -> str | None:
    """The agent of a bundle's name; None if it is the bundle of a workflow or flow."""
    return bundle.removeprefix(AGENT_PREFIX) if bundle.startswith(AGENT_PREFIX) else None
