"""What the branches of a run hold until they are merged: a row for each slot that wrote something or has arrived."""

from collections.abc import Iterator
from typing import TypeAlias

from jeton.hosts.sqlite.mirrors.typed.cells import json_text
from jeton.model.ids import GroupId, RunId
from jeton.model.state.ranges import numbers_in
from jeton.model.state.run import SLOTS_PER_STRETCH, Arrived, RunState

BranchRow: TypeAlias = tuple[RunId, int, int, str, str | None]
"""Run, group, index, `live` or `arrived`, and the output as JSON: what an arrived slot brings to the merge."""

_NOBODY = Arrived()


def branch_rows(state: RunState, group: GroupId, stretch: int) -> Iterator[BranchRow]:
    """The rows of a stretch of a group's slots."""
    run, first = state.head.run, stretch * SLOTS_PER_STRETCH
    for index in range(first, first + SLOTS_PER_STRETCH):
        slot = state.slots.get((group, index))
        if slot is not None and slot.output:
            yield run, group, index, "live", json_text(slot.output)
    progress = state.progress.get(group)
    for node in () if progress is None else progress.fan_ins:
        arrived = state.arrived.get((group, node, stretch), _NOBODY)
        for index in numbers_in(arrived.slots):
            output = json_text(arrived.values[index]) if index in arrived.values else None
            yield run, group, index, "arrived", output


def all_branch_rows(state: RunState) -> list[BranchRow]:
    """The rows of every slot there is, in order."""
    stretches = {(group, index // SLOTS_PER_STRETCH) for group, index in state.slots}
    stretches |= {(group, stretch) for group, _, stretch in state.arrived}
    return sorted((row for stretch in stretches for row in branch_rows(state, *stretch)), key=lambda row: row[1:3])
