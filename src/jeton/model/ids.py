"""Identities, and the rule that derives each from its parent.

Tokens and groups are numbered within their run. A counter kept in the run's head is as deterministic as a hash of the
parent (planning twice names the same token), and it is short, ordered, and costs nothing.
"""

from typing import NewType, TypeAlias

RunId = NewType("RunId", str)
TokenId = NewType("TokenId", int)
GroupId = NewType("GroupId", int)

SlotId: TypeAlias = tuple[GroupId, int]
"""One branch of one fan-out: the group instance and the branch's index in it."""

ROOT_PATH = "root"


def branch_path(origin_path: str, node: str, index: int) -> str:
    """Where a branch stands: it grows per fan-out, not per node, so that a loop does not lengthen it."""
    return f"{origin_path}.{node}.{index}"


def child_run_id(run: RunId, token: TokenId) -> RunId:
    """A child run is named by the token that waits for it, so that starting it twice starts it once."""
    return RunId(f"{run}.{token}")


def names_below(run: RunId) -> tuple[str, str]:
    """Between which two names those of all runs are that it called, and that they called: no other name has a dot."""
    return f"{run}.", f"{run}/"


def gate_id(run: RunId, token: TokenId) -> str:
    """A gate is named by the token that waits at it: a token stands at one node, once."""
    return f"{run}:{token}"


def idempotency_key(run: RunId, token: TokenId, attempt: int) -> str:
    """The same over redelivery after a crash, new for a business retry; the executor adds the step."""
    return f"{run}:{token}:{attempt}"
