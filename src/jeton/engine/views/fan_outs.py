"""The branches of each fan-out in numbers, and why branches were lost, folded from the journal."""

from collections.abc import Iterable, Iterator

import msgspec

from jeton.model import decision as d
from jeton.model.entry import Entry
from jeton.model.ids import GroupId, SlotId, TokenId
from jeton.model.json import JsonObject

MAX_REASONS = 3


class BranchFailures(msgspec.Struct):
    """Failures of one type at one node; `message` is that of the first."""

    node: str
    type: str
    count: int
    message: str


class FanOutView(msgspec.Struct):
    """One fan-out. Lost: the branch failed or was stopped before it arrived anywhere."""

    group: GroupId
    name: str
    node: str
    total: int
    arrived: int = 0
    lost: int = 0
    settled: int = 0
    failures: list[BranchFailures] = []

    @property
    def live(self) -> int:
        """Branches that had not settled when the fan-out, or the run, was over."""
        return self.total - self.settled


def fan_out_views(entries: Iterable[Entry]) -> tuple[FanOutView, ...]:
    """All fan-outs in the order they were created."""
    table = FanOutTable()
    for entry in entries:
        table.take(entry)
    return tuple(table.views.values())


class FanOutTable:
    """The fan-outs of a run, updated entry by entry."""

    def __init__(self) -> None:
        self.views: dict[GroupId, FanOutView] = {}
        self._outer: dict[GroupId, SlotId | None] = {}
        self._slots: dict[TokenId, SlotId] = {}
        self._failed: set[SlotId] = set()
        self._over: set[GroupId] = set()

    def take(self, entry: Entry) -> None:
        """Apply one journal entry."""
        for decision in entry.decisions:
            match decision:
                case d.OpenGroup():
                    group = decision.group
                    self.views[group] = FanOutView(group, decision.name, decision.node, decision.total)
                    self._outer[group] = decision.outer
                case d.CreateToken():
                    self._created(decision)
                case d.CreateTokens():
                    for creation in decision.tokens:
                        self._created(creation)
                case d.FailNode():
                    self._fail(decision.token, decision.node, decision.error)
                case d.SettleSlot():
                    self._settle(decision)
                case d.OpenFanIn(group) | d.CloseGroup(group):
                    self._over.add(group)
                case _:
                    pass

    def _created(self, creation: d.CreateToken) -> None:
        if creation.slot is not None:
            self._slots[creation.token] = creation.slot

    def _fail(self, token: TokenId, node: str, error: JsonObject) -> None:
        kind, message = str(error.get("type")), str(error.get("message"))
        for slot in self._enclosing(self._slots.get(token)):
            self._failed.add(slot)
            failures = self.views[slot[0]].failures
            known = next((each for each in failures if (each.node, each.type) == (node, kind)), None)
            if known is None:
                failures.append(BranchFailures(node, kind, 1, message))
            else:
                known.count += 1

    def _enclosing(self, slot: SlotId | None) -> Iterator[SlotId]:
        while slot is not None:
            yield slot
            slot = self._outer[slot[0]]

    def _settle(self, decision: d.SettleSlot) -> None:
        group = decision.slot[0]
        if group in self._over:  # what is stopped after a fan-in has opened is not missing there
            return
        view = self.views[group]
        view.settled += 1
        if decision.node is not None:
            view.arrived += 1
        elif decision.escaped is None and decision.slot in self._failed:
            view.lost += 1


def losses(views: Iterable[FanOutView]) -> Iterator[str]:
    """A sentence for each fan-out that lost branches."""
    for view in views:
        if view.lost:
            common = sorted(view.failures, key=lambda each: -each.count)
            reasons = [f"{each.type} at '{each.node}' ({each.count:,} times): {each.message}" for each in common]
            more = f"; and {len(reasons) - MAX_REASONS} other reasons" if len(reasons) > MAX_REASONS else ""
            where = f"{view.lost:,} of {view.total:,} branches of '{view.name}' were lost"
            yield f"{where}: {'; '.join(reasons[:MAX_REASONS])}{more}"
