"""Runs as they were after any of their entries.

Looking at an entry folds the journal up to it. On the way a fold is kept every few hundred entries, as bytes, so that
the next look at that run begins nearby. What is kept is bounded; what was used longest ago goes first.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from jeton.actor.host import Reads
from jeton.actor.rows import RunRow
from jeton.engine.views.past.changes import EntryChanges, changes_of
from jeton.engine.views.past.fold import FoldedRun, KeptFold, from_kept, unfolded
from jeton.engine.views.past.slots import SlotTable
from jeton.model.entry import Entry
from jeton.model.failure import Refused
from jeton.model.ids import GroupId, RunId
from jeton.model.state.run import Head
from jeton.planning.program.workflow import Program

EVERY = 500
MOST_BYTES = 64 * 1024 * 1024
MOST_TABLES = 20

_Value = TypeVar("_Value")


class Histories:
    """The histories of a host's runs, with folds of those that were looked at."""

    def __init__(self, reads: Reads, most_bytes: int = MOST_BYTES) -> None:
        self._reads = reads
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[tuple[RunId, int], KeptFold] = OrderedDict()
        self._slots: OrderedDict[tuple[RunId, GroupId], SlotTable] = OrderedDict()
        self._locks: WeakValueDictionary[RunId, asyncio.Lock] = WeakValueDictionary()

    @property
    def bytes(self) -> int:
        """The size of what is kept."""
        return self._bytes

    async def entries(self, row: RunRow, first: int, last: int) -> list[Entry]:
        """A run's entries from one number to another. Raises Refused if any of them was pruned."""
        found = await self._reads.stretch(row.run, first, last)
        if len(found) != last - first + 1:
            raise pruned(row.run)
        return found

    async def at(self, program: Program, row: RunRow, entry: int) -> FoldedRun:
        """The run as it was after an entry. Raises Refused if it has no such entry, or if its history was pruned."""
        check_entry(row, entry)
        async with self._lock(row.run):
            return await self._fold(program, row, entry)

    async def changes(self, program: Program, row: RunRow, first: int, last: int) -> list[EntryChanges]:
        """What each entry from one number to another changed, both included."""
        for entry in (first, last):
            check_entry(row, entry)
        async with self._lock(row.run):
            folded = await self._fold(program, row, first - 1)
            changes: list[EntryChanges] = []
            for start in range(first, last + 1, EVERY):
                entries = await self.entries(row, start, min(start + EVERY - 1, last))
                changes += await asyncio.to_thread(_changes, folded, entries)
            return changes

    async def slots(self, program: Program, row: RunRow, group: GroupId, entry: int) -> SlotTable:
        """The slots of a fan-out as they were after an entry. Raises Refused if there is no such fan-out."""
        folded = await self.at(program, row, entry)
        async with self._lock(row.run):
            known = folded.tally.groups.get(group)
            if known is None:
                problem = f"run {row.run} has no fan-out {group}, or it was over long ago"
                raise Refused("unknown_group", problem, "see the groups of its graph")
            table = self._slots.pop((row.run, group), None)
            if table is None or table.entry > entry:
                table = SlotTable(group)
                table.entry = known.began - 1
            last = entry if known.ended is None else known.ended
            while table.entry < last:
                entries = await self.entries(row, table.entry + 1, min(table.entry + EVERY, last))
                await asyncio.to_thread(_each, table.take, entries)
            if known.ended is not None:
                table.finish()
            self._slots[row.run, group] = table
            if len(self._slots) > MOST_TABLES:
                self._slots.popitem(last=False)
            return table

    async def _fold(self, program: Program, row: RunRow, entry: int) -> FoldedRun:
        if await self._reads.oldest(row.run) != 0:
            raise pruned(row.run)
        nearest = max((number for run, number in self._kept if run == row.run and number <= entry), default=None)
        if nearest is None:
            folded = unfolded(program, Head(row.run, row.workflow, row.version))
        else:
            self._kept.move_to_end((row.run, nearest))
            folded = await asyncio.to_thread(from_kept, program, self._kept[row.run, nearest])
        while folded.entry < entry:
            first = folded.entry + 1
            last = min(entry, first - first % EVERY + EVERY - 1)
            entries = await self.entries(row, first, last)
            await asyncio.to_thread(_each, folded.take, entries)
            if last % EVERY == EVERY - 1:
                self._keep((row.run, last), await asyncio.to_thread(folded.keep))
        return folded

    def _keep(self, place: tuple[RunId, int], fold: KeptFold) -> None:
        before = self._kept.pop(place, None)
        self._bytes += fold.size - (0 if before is None else before.size)
        self._kept[place] = fold
        while self._bytes > self._most_bytes:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= dropped.size

    def _lock(self, run: RunId) -> asyncio.Lock:
        lock = self._locks.get(run)
        if lock is None:
            lock = self._locks[run] = asyncio.Lock()
        return lock


def check_entry(row: RunRow, entry: object) -> None:
    """Raise Refused unless a run has an entry of this number."""
    if not isinstance(entry, int) or isinstance(entry, bool) or not 0 <= entry < row.entries:
        problem = f"run {row.run} has entries 0 to {row.entries - 1}, and none is number {entry}"
        raise Refused("unknown_entry", problem, "name one of them")


def pruned(run: RunId) -> Refused:
    """The refusal to tell what a run was like, because its history is gone."""
    return Refused("history_pruned", f"the history of run {run} was pruned", "ask for the run as it is now")


def _changes(folded: FoldedRun, entries: list[Entry]) -> list[EntryChanges]:
    return [changes_of(folded, entry) for entry in entries]


def _each(take: Callable[[_Value], None], values: list[_Value]) -> None:
    for value in values:
        take(value)
