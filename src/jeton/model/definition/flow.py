"""Flow, FlowNode, Connection: a graph of boxes with handles, values along its connections, each node once per run."""

from typing import Literal

import msgspec

from jeton.model.json import Json, JsonObject, Mapping, Schema

DEFAULT_MAX_NODES = 50
MAIN = "main"

PURE_TYPES = (
    "trigger", "constant", "set", "sum", "add", "subtract", "multiply", "divide", "if_else", "switch", "merge",
    "template", "wait", "wait_until",
)  # fmt: skip
"""Built-ins that planning works out itself: no worker is asked."""

WORKING_TYPES = ("http", "llm", "gate", "workflow", "agent")
"""Built-ins that need somebody: a worker, people, another run, an agent."""

BUILT_IN_TYPES = (*PURE_TYPES, *WORKING_TYPES)
CONTROL_KEYS = ("_branch", "_wait", "_wait_until", "_waitUntil")


class FlowNode(msgspec.Struct, frozen=True, omit_defaults=True):
    """A box. `inputs` are literals by input handle, `data` its configuration; a `repeated` handle collects a list."""

    type: str
    inputs: JsonObject = msgspec.field(default_factory=dict[str, Json])
    data: JsonObject = msgspec.field(default_factory=dict[str, Json])
    repeated: tuple[str, ...] = ()


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
    """What one run may grow to."""

    max_nodes: int = DEFAULT_MAX_NODES


class Flow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A flow graph. Every connection leads from a node to a node; `definitions/` saw to that, and to cycles.

    `declared` is the order of the nodes, which means something here, and which a store that sorts keys would lose.
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
    timeout_ms: int | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[str, ...]:
        """The nodes as declared."""
        return self.declared or tuple(self.nodes)
