"""Every fan-out of a run and the progress of its branches, folded from the journal."""

from collections.abc import Iterable

import msgspec

from jeton.model.decision import CloseGroup, OpenFanIn, OpenGroup, SettleSlot
from jeton.model.entry import Entry
from jeton.model.ids import GroupId


class GroupView(msgspec.Struct):
    """One fan-out. A branch that left for an outer fan-in is settled, but neither arrived nor lost."""

    id: GroupId
    name: str
    node: str
    total: int
    settled: int = 0
    arrived: int = 0
    joins_at: str | None = None  # the node of the fan-in some branch arrived at
    over: bool = False


def group_views(entries: Iterable[Entry]) -> list[GroupView]:
    """All fan-outs in the order they were created."""
    table = GroupTable()
    for entry in entries:
        table.take(entry)
    return list(table.groups.values())


class GroupTable:
    """The fan-outs of a run, updated entry by entry."""

    def __init__(self) -> None:
        self.groups: dict[GroupId, GroupView] = {}

    def take(self, entry: Entry) -> None:
        """Apply one journal entry."""
        for decision in entry.decisions:
            match decision:
                case OpenGroup():
                    view = GroupView(decision.group, decision.name, decision.node, decision.total)
                    self.groups[decision.group] = view
                case SettleSlot():
                    self._settle(self.groups[decision.slot[0]], decision.node)
                case OpenFanIn(group, node):
                    self.groups[group].joins_at, self.groups[group].over = node, True
                case CloseGroup(group):
                    self.groups[group].over = True
                case _:
                    pass

    def _settle(self, group: GroupView, node: str | None) -> None:
        group.settled += 1
        if node is not None:
            group.arrived += 1
            group.joins_at = node
