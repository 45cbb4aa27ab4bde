"""Flow graphs: nodes with handles, values along connections, each node at most once per run."""

from typing import Literal, TypeAlias

import msgspec

from jeton.model.json import Json, JsonObject, Mapping, Schema

DEFAULT_MAX_NODES = 50
MAIN = "main"

PURE_TYPES = (
    "trigger", "constant", "set", "sum", "add", "subtract", "multiply", "divide", "if_else", "switch", "merge",
    "template", "wait", "wait_until", "fail",
)  # fmt: skip
"""Built-in types that planning computes itself, without a worker."""

WORKING_TYPES = ("http", "llm", "gate", "workflow", "agent")
"""Built-in types that need a worker, people, another run or an agent."""

BUILT_IN_TYPES = (*PURE_TYPES, *WORKING_TYPES)
CONTROL_KEYS = ("_branch", "_wait", "_wait_until", "_waitUntil")


ERROR = "error"
"""The output that holds a failure which the node handles."""

RunWhen: TypeAlias = Literal["all", "any", "settled"]


class OnErrorDefault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Outputs that a node has if it fails."""

    default: JsonObject


class FlowNode(msgspec.Struct, frozen=True, omit_defaults=True):
    """A node. `inputs`: literals by input handle; `data`: its configuration; a `repeated` handle collects a list.

    `on_error`: how it handles its own failure; None: not at all. `run_when`: what its incoming connections must bring.
    """

    type: str
    inputs: JsonObject = msgspec.field(default_factory=dict[str, Json])
    data: JsonObject = msgspec.field(default_factory=dict[str, Json])
    repeated: tuple[str, ...] = ()
    on_error: Literal["route"] | OnErrorDefault | None = None
    run_when: RunWhen = "all"


class Connection(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    rename={"source": "from", "target": "to"},
):
    """From an output handle of one node to an input handle of another."""

    source: str
    target: str
    from_output: str = MAIN
    to_input: str = MAIN


class FlowLimits(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Limits on the size of one run."""

    max_nodes: int = DEFAULT_MAX_NODES


class Flow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A flow graph, checked: every connection joins two nodes, and cycles are as `cycles` allows.

    `declared` is the order of the nodes, which matters in a flow, and which a store that sorts keys would lose.
    """

    name: str
    nodes: dict[str, FlowNode]
    declared: tuple[str, ...] = ()
    connections: tuple[Connection, ...] = ()
    on_error: Literal["continue", "fail"] = "continue"
    cycles: Literal["refuse", "ignore_back_edges"] = "refuse"
    limits: FlowLimits = FlowLimits()
    input_schema: Schema | None = None
    output_schema: Schema | None = None
    output_mapping: Mapping | None = None
    timeout_ms: int | str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[str, ...]:
        """The names of the nodes in declaration order."""
        return self.declared or tuple(self.nodes)
