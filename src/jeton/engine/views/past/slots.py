"""The slots of one fan-out: where each of its branches is, and which failures there were."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from jeton.engine.views.past.counts import place_after
from jeton.model import decision as d
from jeton.model.entry import Entry
from jeton.model.ids import GroupId, SlotId, TokenId
from jeton.model.state.ranges import numbers_in

SlotStatus: TypeAlias = Literal["idle", "active", "waiting", "done", "failed", "stopped"]
MOST_FAILURES = 100


class SlotFailures(msgspec.Struct):
    """Failures of one type with one message. `first` is the first slot that has one."""

    type: str
    message: str
    count: int
    first: int


class SlotsView(msgspec.Struct, frozen=True):
    """Slots of a fan-out by ranges: status, first index, and how many follow with the same.

    `done` arrived at a fan-in, `failed` and `stopped` never will; `idle` has not begun."""

    total: int
    runs: list[tuple[SlotStatus, int, int]]
    failures: list[SlotFailures]


class _Slot(msgspec.Struct):
    active: int = 0
    waiting: int = 0
    failed: bool = False
    settled: SlotStatus | None = None

    @property
    def status(self) -> SlotStatus:
        if self.settled is not None:
            return self.settled
        return "active" if self.active or not self.waiting else "waiting"


class SlotTable:
    """The slots of one fan-out, folded from the entry that began it. Inner fan-outs belong to the slot they are in."""

    def __init__(self, group: GroupId) -> None:
        self.group = group
        self.total = 0
        self.entry = -1  # the last that was folded
        self.over = False
        self._slots: dict[int, _Slot] = {}
        self._inner: dict[GroupId, int] = {}  # fan-outs inside: the slot they are in
        self._tokens: dict[TokenId, tuple[int, bool]] = {}  # slot, and whether it is active
        self._failures: list[tuple[int, str, str]] = []

    def take(self, entry: Entry) -> None:
        """Fold the next entry."""
        self.entry = entry.number
        for decision in entry.decisions:
            if not self.over:
                self._take(decision)

    def view(self, first: int, last: int) -> SlotsView:
        """The slots from one index up to, and not including, another."""
        runs: list[tuple[SlotStatus, int, int]] = []
        for index in range(max(first, 0), min(last, self.total)):
            slot = self._slots.get(index)
            status: SlotStatus = slot.status if slot is not None else "stopped" if self.over else "idle"
            if runs and runs[-1][0] == status:
                runs[-1] = (status, runs[-1][1], runs[-1][2] + 1)
            else:
                runs.append((status, index, 1))
        return SlotsView(self.total, runs, list(self._grouped(first, last)))

    def _grouped(self, first: int, last: int) -> Iterator[SlotFailures]:
        found: dict[tuple[str, str], SlotFailures] = {}
        for index, kind, message in self._failures:
            if first <= index < last:
                known = found.get((kind, message))
                if known is None:
                    found[kind, message] = SlotFailures(kind, message, 1, index)
                else:
                    known.count += 1
                    known.first = min(known.first, index)
        yield from sorted(found.values(), key=lambda each: (-each.count, each.first))[:MOST_FAILURES]

    def _take(self, decision: d.Decision) -> None:
        moved = place_after(decision)
        if moved is not None:
            self._move(moved[0], active=moved[1] == "active")
            return
        match decision:
            case d.OpenGroup(group, total=total, outer=outer):
                self._open(group, total, outer)
            case d.CreateToken():
                self._create(decision)
            case d.CreateTokens():
                for creation in decision.tokens:
                    self._create(creation)
            case d.RouteToken(token=token, ends=ends) if ends is not None:
                self._end(token)
            case d.EndTokens(tokens):
                for number in numbers_in(tokens):
                    self._end(TokenId(number))
            case d.FailNode(token, error=error):
                self._fail(token, str(error.get("type")), str(error.get("message")))
            case d.SettleSlot(slot, node=node, escaped=escaped) if slot[0] == self.group:
                arrived = node is not None or escaped is not None
                known = self._slots.setdefault(slot[1], _Slot())
                known.settled = "done" if arrived else "failed" if known.failed else "stopped"
            case d.OpenFanIn(group) | d.CloseGroup(group) if group == self.group:
                self.finish()
            case d.EndRun():
                self.finish()
            case _:
                pass

    def _open(self, group: GroupId, total: int, outer: SlotId | None) -> None:
        if group == self.group:
            self.total = total
        elif outer is not None:
            index = self._index(outer)
            if index is not None:
                self._inner[group] = index

    def _index(self, slot: SlotId) -> int | None:
        """The slot of this fan-out that a slot lies in."""
        return slot[1] if slot[0] == self.group else self._inner.get(slot[0])

    def _create(self, creation: d.CreateToken) -> None:
        index = None if creation.slot is None else self._index(creation.slot)
        if index is not None:
            self._tokens[creation.token] = index, True
            self._slots.setdefault(index, _Slot()).active += 1

    def _move(self, token: TokenId, *, active: bool) -> None:
        if token in self._tokens:
            index, was = self._tokens[token]
            slot, by = self._slots[index], active - was
            slot.active += by
            slot.waiting -= by
            self._tokens[token] = index, active

    def _end(self, token: TokenId) -> None:
        found = self._tokens.pop(token, None)
        if found is not None:
            slot = self._slots[found[0]]
            slot.active -= found[1]
            slot.waiting -= not found[1]

    def _fail(self, token: TokenId, kind: str, message: str) -> None:
        if token in self._tokens:
            index = self._tokens[token][0]
            self._slots[index].failed = True
            self._failures.append((index, kind, message))

    def finish(self) -> None:
        """The fan-out is over: what has not arrived will not. A fan-out inside another ends with its slot."""
        self.over = True
        for slot in self._slots.values():
            slot.settled = slot.settled or ("failed" if slot.failed else "stopped")
        self._tokens.clear()
