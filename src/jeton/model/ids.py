"""Ids, and how each is derived from its parent.

Tokens and groups are numbered within their run by counters in the run's head, so that planning twice gives the same
number.
"""

from typing import NewType, TypeAlias

RunId = NewType("RunId", str)
TokenId = NewType("TokenId", int)
GroupId = NewType("GroupId", int)

SlotId: TypeAlias = tuple[GroupId, int]
"""One branch of a fan-out: the group and the index of the branch."""

ROOT_PATH = "root"


def branch_path(origin_path: str, node: str, index: int) -> str:
    """The path of a branch. It grows with each fan-out and not with each node, so that a loop does not lengthen it."""
    return f"{origin_path}.{node}.{index}"


def child_run_id(run: RunId, token: TokenId, attempt: int = 1) -> RunId:
    """The id of the child run that a token waits for. A second start has the same id and changes nothing.

    A call that is made again after a failure has a child of its own."""
    return RunId(f"{run}.{token}" if attempt == 1 else f"{run}.{token}-{attempt}")


def names_below(run: RunId) -> tuple[str, str]:
    """The lower and upper bound of the ids of all runs below a run. Only ids of child runs contain a dot."""
    return f"{run}.", f"{run}/"


def gate_id(run: RunId, token: TokenId) -> str:
    """The id of the gate that a token waits at."""
    return f"{run}:{token}"


def idempotency_key(run: RunId, token: TokenId, attempt: int, step: str) -> str:
    """The key of a step in an attempt: the same after an infrastructure retry or a redelivery, new for a retry."""
    return f"{run}:{token}:{attempt}:{step}"
