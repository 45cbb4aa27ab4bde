"""Decisions about the nodes of a flow."""

from typing import TypeAlias

from jeton.model.decision.base import DecisionBase
from jeton.model.failure import TaskFailed
from jeton.model.ids import TokenId
from jeton.model.state.flow_run import Executed, WaitingNode


class BeginNode(DecisionBase, frozen=True, tag="begin_node"):
    """A node of a flow begins."""

    token: TokenId
    node: str


class HoldNode(DecisionBase, frozen=True, tag="hold_node"):
    """A node of a flow ran and asked to wait. It is not run again."""

    token: TokenId
    node: str
    at: int
    held: WaitingNode


class ExecuteNode(DecisionBase, frozen=True, tag="execute_node"):
    """A node of a flow is done. `dead_end`: no connection leaves the branch it chose; `waited`: its wait is over."""

    token: TokenId
    node: str
    executed: Executed
    dead_end: bool = False
    waited: bool = False


class BreakNode(DecisionBase, frozen=True, tag="break_node"):
    """A node of a flow failed."""

    token: TokenId
    node: str
    failure: TaskFailed


class SettleNodes(DecisionBase, frozen=True, tag="settle_nodes"):
    """Nodes of a flow that are skipped, nodes that may begin, and nodes with their number of unsettled connections."""

    skipped: tuple[str, ...] = ()
    ready: tuple[str, ...] = ()
    remaining: dict[str, int] = {}


class ReopenNodes(DecisionBase, frozen=True, tag="reopen_nodes"):
    """Reset nodes of a flow that failed, and everything behind them, for a retry.

    `begun`: nodes that ran in spite of the failure, or were about to."""

    failed: tuple[str, ...]
    skipped: tuple[str, ...]
    remaining: dict[str, int]
    begun: tuple[str, ...] = ()


FlowDecision: TypeAlias = BeginNode | HoldNode | ExecuteNode | BreakNode | SettleNodes | ReopenNodes
