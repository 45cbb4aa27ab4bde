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
    """A node of a flow ran and asked the run to wait; it is not run again."""

    token: TokenId
    node: str
    at: int
    held: WaitingNode


class ExecuteNode(DecisionBase, frozen=True, tag="execute_node"):
    """A node of a flow is done. `dead_end`: it chose a branch that nothing leaves by; `waited`: its wait is over."""

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
    """These nodes of a flow are skipped, these may begin, and these wait for so many connections yet."""

    skipped: tuple[str, ...] = ()
    ready: tuple[str, ...] = ()
    remaining: dict[str, int] = {}


class ReopenNodes(DecisionBase, frozen=True, tag="reopen_nodes"):
    """These nodes of a flow failed, or were skipped for a failure, and are as if they had never been reached."""

    failed: tuple[str, ...]
    skipped: tuple[str, ...]
    remaining: dict[str, int]


FlowDecision: TypeAlias = BeginNode | HoldNode | ExecuteNode | BreakNode | SettleNodes | ReopenNodes
