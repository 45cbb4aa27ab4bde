"""Facts about the nodes of a flow."""

from typing import TypeAlias

from jeton.model.event.base import FactBase
from jeton.model.failure import TaskFailed
from jeton.model.ids import TokenId
from jeton.model.json import JsonObject


class NodeStarted(FactBase, frozen=True, tag="node.started"):
    """A node of a flow has its inputs and begins."""

    token: TokenId
    node: str


class NodeCompleted(FactBase, frozen=True, tag="node.completed"):
    """A node of a flow succeeded, or handled its failure. `branch`: the output it chose."""

    token: TokenId
    node: str
    outputs: JsonObject
    branch: str | None = None
    warning: str | None = None
    handled: TaskFailed | None = None


class NodeFailed(FactBase, frozen=True, tag="node.failed"):
    """A node of a flow failed."""

    token: TokenId
    node: str
    error: TaskFailed


class NodeSkipped(FactBase, frozen=True, tag="node.skipped"):
    """A node of a flow will not run, because nothing can reach it any more."""

    node: str


FlowFact: TypeAlias = NodeStarted | NodeCompleted | NodeFailed | NodeSkipped
