"""What the branches of a run hold until they are merged: a row for each slot that wrote something or has arrived."""

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import UnsetType

from jeton.hosts.sqlite.typed.cells import json_text
from jeton.model.ids import GroupId, SlotId
from jeton.model.run import RunState

BranchRow: TypeAlias = tuple[str, int, int, str, str | None]
"""Run, group, index, `live` or `arrived`, and the output as JSON: what an arrived slot brings to the merge."""


def branch_rows(state: RunState, group: GroupId, first: int, count: int) -> Iterator[BranchRow]:
    """The rows of a stretch of a group's slots."""
    for index in range(first, first + count):
        row = _row(state, (group, index))
        if row is not None:
            yield row


def all_branch_rows(state: RunState) -> list[BranchRow]:
    """The rows of every slot there is, in order."""
    rows = (_row(state, slot) for slot in sorted({*state.slots, *state.arrivals}))
    return [row for row in rows if row is not None]


def _row(state: RunState, slot: SlotId) -> BranchRow | None:
    run, (group, index) = state.head.run, slot
    arrival = state.arrivals.get(slot)
    if arrival is not None:
        return run, group, index, "arrived", None if isinstance(arrival.value, UnsetType) else json_text(arrival.value)
    live = state.slots.get(slot)
    return (run, group, index, "live", json_text(live.output)) if live is not None and live.output else None
