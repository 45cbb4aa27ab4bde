"""Token graphs: workflows, nodes and transitions, without the shorthands of definition files."""

from typing import Literal, TypeAlias

import msgspec

from jeton.model.definition.agent import Agent, MemoryPolicy, Persona, Prompt, Tool
from jeton.model.definition.flow import Flow
from jeton.model.definition.profile import ModelProfile
from jeton.model.definition.task import Action, Task
from jeton.model.definition.trigger import Trigger
from jeton.model.json import Json, Mapping, Schema

DEFAULT_MAX_TOKENS = 200_000
DEFAULT_MAX_NODE_EXECUTIONS = 1_000_000
DEFAULT_MAX_DEPTH = 10


class MOfN(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fan-in opens when this many slots have arrived."""

    m_of_n: int | str


Strategy: TypeAlias = Literal["all", "any"] | MOfN
MergeStrategy: TypeAlias = Literal["append", "collect", "merge_object", "keyed_by_branch", "last_wins"]


class Merge(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the outputs of the branches that arrived become one value, and where it is written."""

    target: str
    source: str = "_branch.output"
    strategy: MergeStrategy = "append"


class Synchronization(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a transition into a fan-in waits for."""

    strategy: Strategy = "all"
    sibling_group: str | None = None
    merge: Merge | None = None
    timeout_ms: int | str | None = None
    on_timeout: Literal["fail", "proceed_with_available"] = "fail"
    on_early_complete: Literal["cancel", "abandon"] = "cancel"
    on_branch_failure: Literal["fail", "continue"] = "fail"


class Foreach(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One slot per item of a list; `max_parallel` limits how many are under way."""

    collection: Json
    item_var: str | None = None
    max_parallel: int | str | None = None


class LoopConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often one lineage may follow the transition."""

    max_iterations: int


class Transition(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    rename={"source": "from", "target": "to"},
):
    """An edge: source, target, condition, priority, and how it fans out or in."""

    source: str
    target: str
    condition: Json = True
    priority: int = 1
    foreach: Foreach | None = None
    spawn_count: int | str | None = None
    sibling_group: str | None = None
    synchronization: Synchronization | None = None
    loop_config: LoopConfig | None = None

    @property
    def makes_slots(self) -> bool:
        """Whether following it alone is a fan-out, even of one branch."""
        return self.foreach is not None or self.spawn_count is not None or self.sibling_group is not None


class TaskTarget(msgspec.Struct, frozen=True, tag="task"):
    """Run a task, given by name or inline."""

    task: str | Task


class SignalSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of the signals that a wait is for."""

    schema: Schema | None = None


class WaitTarget(msgspec.Struct, frozen=True, tag="wait", omit_defaults=True):
    """Wait for a time, for a signal, or for the first of several."""

    seconds: Json = None
    until: Json = None
    signal: str | None = None
    schema: Schema | None = None
    timeout_ms: int | str | None = None
    label: str | None = None
    signals: dict[str, SignalSpec] = {}
    on_timeout: Json = "fail"

    @property
    def hears(self) -> dict[str, Schema | None]:
        """The signals it waits for, each with its schema. None for a time."""
        if self.signal is not None:
            return {self.signal: self.schema}
        return {name: each.schema for name, each in self.signals.items()}


class WorkflowTarget(msgspec.Struct, frozen=True, tag="workflow", omit_defaults=True):
    """Call another workflow, as a run of its own."""

    workflow: str
    on_failure: Literal["propagate", "catch"] = "propagate"
    timeout_ms: int | str | None = None
    inherit_artifacts: bool = False


class GateTarget(msgspec.Struct, frozen=True, tag="gate", omit_defaults=True):
    """Hold the token until people answer."""

    title: str
    schema: Schema | None = None
    assignees: tuple[str, ...] = ()
    approvals: int = 1
    timeout_ms: int | str | None = None
    on_timeout: Json = "fail"


class AgentTarget(msgspec.Struct, frozen=True, tag="agent", omit_defaults=True):
    """Ask an agent. `conversation` is an expression: the conversation to go on with."""

    agent: str
    output_schema: Schema | None = None
    conversation: Json = None
    timeout_ms: int | str | None = None


class FailedEnd(msgspec.Struct, frozen=True, omit_defaults=True):
    """The failure that a run ends with. `message` is a template."""

    type: str
    message: str = ""


class EndTarget(msgspec.Struct, frozen=True, tag="end", omit_defaults=True):
    """End the whole run at once: completed, or with a failure."""

    failed: FailedEnd | None = None


Target: TypeAlias = TaskTarget | WaitTarget | WorkflowTarget | GateTarget | AgentTarget | EndTarget


class Node(msgspec.Struct, frozen=True, omit_defaults=True):
    """A node: at most one target, and how data goes in and out."""

    target: Target | None = None
    input_mapping: Mapping | None = None
    output_mapping: Mapping | None = None
    fan_out: Literal["all", "first_match"] = "all"


class WorkflowLimits(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Limits on the size of one run."""

    max_tokens: int = DEFAULT_MAX_TOKENS
    max_node_executions: int = DEFAULT_MAX_NODE_EXECUTIONS
    max_depth: int = DEFAULT_MAX_DEPTH  # of the tree of runs that call each other


class Workflow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A token graph, checked: every transition joins two nodes."""

    name: str
    initial_node: str
    nodes: dict[str, Node]
    transitions: tuple[Transition, ...] = ()
    input_schema: Schema | None = None
    state_schema: Schema | None = None
    output_schema: Schema | None = None
    output_mapping: Mapping | None = None
    timeout_ms: int | str | None = None
    on_no_match: Literal["fail", "complete"] = "fail"
    limits: WorkflowLimits = WorkflowLimits()
    description: str | None = None
    tags: tuple[str, ...] = ()


class Library(msgspec.Struct, frozen=True):
    """All definitions of a project, by section and name.

    A bundle is a library reduced to one workflow or flow and what it can reach: what a version stores, and a run
    uses until its end. Bundles have no triggers.
    """

    workflows: dict[str, Workflow] = msgspec.field(default_factory=dict[str, Workflow])
    tasks: dict[str, Task] = msgspec.field(default_factory=dict[str, Task])
    actions: dict[str, Action] = msgspec.field(default_factory=dict[str, Action])
    settings: dict[str, Json] = msgspec.field(default_factory=dict[str, Json])
    flows: dict[str, Flow] = msgspec.field(default_factory=dict[str, Flow])
    triggers: dict[str, Trigger] = msgspec.field(default_factory=dict[str, Trigger])
    model_profiles: dict[str, ModelProfile] = msgspec.field(default_factory=dict[str, ModelProfile])
    prompts: dict[str, Prompt] = msgspec.field(default_factory=dict[str, Prompt])
    tools: dict[str, Tool] = msgspec.field(default_factory=dict[str, Tool])
    personas: dict[str, Persona] = msgspec.field(default_factory=dict[str, Persona])
    agents: dict[str, Agent] = msgspec.field(default_factory=dict[str, Agent])


def memory_policy(library: Library, agent: str) -> MemoryPolicy | None:
    """What the persona of an agent says of its memory; None if the library has no such agent."""
    known = library.agents.get(agent)
    persona = None if known is None else library.personas.get(known.persona)
    if persona is None:
        return None
    return MemoryPolicy() if persona.memory is None else persona.memory


def memory_policies(library: Library) -> dict[str, MemoryPolicy]:
    """What the personas of all agents say of their memories, by agent."""
    found = {agent: memory_policy(library, agent) for agent in library.agents}
    return {agent: policy for agent, policy in found.items() if policy is not None}
