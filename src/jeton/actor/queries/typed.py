"""State and branch outputs that a commit wrote, for the tables of a workflow with a `state_schema`."""

from collections.abc import Iterator

import msgspec
from msgspec import UNSET, UnsetType

from jeton.apply.draft import Touched
from jeton.model.ids import GroupId
from jeton.model.json import Json
from jeton.model.state.ranges import numbers_in
from jeton.model.state.run import SLOTS_PER_STRETCH, Arrived, RunState

_encode = msgspec.json.Encoder().encode
_NONE_ARRIVED = Arrived()


class BranchRow(msgspec.Struct, frozen=True, order=True):
    """One slot of a fan-out that has written something or has arrived; `output` is what it brings to the merge."""

    group: GroupId
    index: int
    status: str  # live or arrived
    output: str | None  # as JSON


class Stretch(msgspec.Struct, frozen=True):
    """All rows of one stretch of a group's slots. They replace the stored ones."""

    group: GroupId
    first: int
    rows: tuple[BranchRow, ...]


def typed_state(state: RunState, touched: Touched) -> dict[str, Json | UnsetType]:
    """The top-level keys of the state that a commit wrote."""
    return {key: state.state.get(key, UNSET) for key in sorted(touched.state)}


def branch_rows(state: RunState, group: GroupId, stretch: int) -> Iterator[BranchRow]:
    """The rows of a stretch of a group's slots."""
    first = stretch * SLOTS_PER_STRETCH
    for index in range(first, first + SLOTS_PER_STRETCH):
        slot = state.slots.get((group, index))
        if slot is not None and slot.output:
            yield BranchRow(group, index, "live", _text(slot.output))
    progress = state.progress.get(group)
    for node in () if progress is None else progress.fan_ins:
        arrived = state.arrived.get((group, node, stretch), _NONE_ARRIVED)
        for index in numbers_in(arrived.slots):
            output = _text(arrived.values[index]) if index in arrived.values else None
            yield BranchRow(group, index, "arrived", output)


def all_branch_rows(state: RunState) -> list[BranchRow]:
    """The rows of every slot, by group and index."""
    stretches = {(group, index // SLOTS_PER_STRETCH) for group, index in state.slots}
    stretches |= {(group, stretch) for group, _, stretch in state.arrived}
    rows = (row for place in sorted(stretches) for row in branch_rows(state, *place))
    return sorted(rows, key=lambda row: (row.group, row.index))


def changed_branches(state: RunState, touched: Touched) -> tuple[Stretch, ...]:
    """The stretches of slots that wrote or arrived, or were merged."""
    if not touched.more:
        return ()
    places = touched.rest.slots | {(group, stretch) for group, _, stretch in touched.rest.arrived}
    return tuple(
        Stretch(group, stretch * SLOTS_PER_STRETCH, tuple(branch_rows(state, group, stretch)))
        for group, stretch in sorted(places)
    )


def _text(value: Json) -> str:
    return _encode(value).decode()
