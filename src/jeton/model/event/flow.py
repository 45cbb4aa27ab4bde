"""Facts about the nodes of a flow."""

from typing import TypeAlias

from jeton.model.event.base import FactBase
from jeton.model.failure import TaskFailed
from jeton.model.ids import TokenId
from jeton.model.json import JsonObject


class NodeStarted(FactBase, frozen=True, tag="node.started"):
    token: TokenId
    node: str


class NodeCompleted(FactBase, frozen=True, tag="node.completed"):
    token: TokenId
    node: str
    outputs: JsonObject
    branch: str | None = None
    warning: str | None = None


class NodeFailed(FactBase, frozen=True, tag="node.failed"):
    token: TokenId
    node: str
    error: TaskFailed


class NodeSkipped(FactBase, frozen=True, tag="node.skipped"):
    node: str


FlowFact: TypeAlias = NodeStarted | NodeCompleted | NodeFailed | NodeSkipped
