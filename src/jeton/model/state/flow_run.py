"""The state of a flow's run: which nodes are settled, and how. The rest is derived from it."""

from typing import Literal, TypeAlias

import msgspec

from jeton.model.failure import TaskFailed
from jeton.model.json import Json, JsonObject
from jeton.model.state.overlay import Overlay

FlowStatus: TypeAlias = Literal["running", "completed", "failed"]
NodeStatus: TypeAlias = Literal["idle", "executing", "completed", "failed", "skipped"]
SkipReason: TypeAlias = Literal["upstream_failure", "branch_not_taken"]


class Executed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A node that ran: its outputs, without control keys, and the branch it chose, if any.

    `handled`: it failed, and its `on_error` made these outputs of the failure."""

    outputs: JsonObject
    branch: str | None = None
    handled: TaskFailed | None = None


class WaitingNode(msgspec.Struct, frozen=True, omit_defaults=True):
    """A node that ran and asked the run to wait: at `due` it counts as executed, and is not run again."""

    executed: Executed
    due: int
    label: str | None = None
    wall: bool = False  # `due` is a point in time, by the system clock


class FlowState:
    """The tables of a flow's run. Only a `Draft` writes to them.

    `remaining` is updated with each settled node, so that nothing is counted by scanning. It follows from the other
    tables, as `contexts` and `blocked` do, which are caches.
    """

    __slots__ = (
        "blocked", "contexts", "errors", "executed", "executing", "input", "overrides", "remaining", "skipped",
        "waiting",
    )  # fmt: skip

    def __init__(self, input: Json = None, overrides: dict[str, JsonObject] | None = None) -> None:
        self.input = input
        self.overrides: dict[str, JsonObject] = overrides or {}  # by node: inputs given to this run
        self.executing: dict[str, None] = {}
        self.waiting: dict[str, WaitingNode] = {}
        self.executed: dict[str, Executed] = {}
        self.skipped: dict[str, None] = {}
        self.errors: dict[str, TaskFailed] = {}
        self.remaining: dict[str, int] = {}  # by node: incoming connections not settled; absent: none was settled yet
        self.contexts: dict[str, Overlay] = {}  # by executed node: the context after it
        self.blocked: dict[str, bool] = {}  # by skipped node: whether because of a failure

    @property
    def started(self) -> int:
        """The number of nodes that began."""
        return len(self.executing) + len(self.waiting) + len(self.executed) + len(self.errors)

    def began(self, node: str) -> bool:
        """Whether a node began."""
        return node in self.executed or node in self.errors or node in self.executing or node in self.waiting


class NodeFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The stored state of one node: how it is settled, or how many connections it waits for."""

    executed: Executed | None = None
    waiting: WaitingNode | None = None
    error: TaskFailed | None = None
    skipped: bool = False
    remaining: int | None = None
    executing: bool = False


class Settled(msgspec.Struct, frozen=True):
    """What follows from a settled node: nodes that may begin, nodes skipped, and unsettled connections of others."""

    ready: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    remaining: dict[str, int] = {}
    dead_end: bool = False  # it chose a branch that no connection leaves


class NodeView(msgspec.Struct, frozen=True):
    """The state of a node, for display. `inputs`: what it was given, if it began."""

    status: NodeStatus
    inputs: JsonObject | None = None
    outputs: JsonObject | None = None
    error: TaskFailed | None = None
    skip_reason: SkipReason | None = None
    blocked_by: tuple[str, ...] = ()
