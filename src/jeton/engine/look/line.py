"""Readers of the line: of all runs, or of one run and the runs it called, from any position on.

The entries of a tree are found in one of two ways. From a position near the end, the line is read and what belongs to
other runs is left out. From further back, the positions of the tree's own runs are asked for, so that a long line of
other runs costs nothing. Either way the entries come in the order of their commits, each once.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from time import monotonic

from jeton.actor.host import Reads
from jeton.actor.rows import PlacedEntry
from jeton.engine.look.position import START, LineEntry, Position, bad_cursor, behind
from jeton.model.decision import EndRun
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.state.run import TERMINAL

PAGE = 500
SHORT_LINE = 2_000
"""So many entries are looked through; behind a longer part of the line, only those of the tree."""

DRAIN_S = 10.0
"""How long the runs that an ended run called are waited for: one may never begin, or have no owner."""


class LineReader:
    """Reads the line from a position on, page by page.

    `position` is the place behind all that was read, where another reader can go on. `caught_up`: nothing was left when
    the last page was read. `ended`: the run that is read has ended, and so have those it called: nothing will follow.
    """

    def __init__(self, reads: Reads, run: RunId | None = None, after: Position | None = None) -> None:
        self.position = START if after is None else after
        self.caught_up = False
        self.ended = False
        self._reads = reads
        self._run = run
        self._pruned = None if after is None else 0  # the last pruned position that this reader does not mind
        self._ahead: Sequence[int] | None = None  # positions of the tree that are known and not read yet
        self._ahead_to = 0
        self._drains_until: float | None = None

    def skip_pruned(self) -> None:
        """Leave out what is gone by now, instead of refusing to read behind it."""
        self._pruned = None

    async def read(self, limit: int = PAGE) -> list[LineEntry]:
        """The next entries. An empty list says nothing: see `caught_up` and `ended`.

        Raises Refused: `bad_cursor` for a position that the line has not reached, `history_pruned` if entries behind
        the position are gone."""
        first, seen = self.position.entry, self.position.seen
        if self._run is not None and self._ahead is None:
            await self._begin(self._run)
        found: Sequence[PlacedEntry]
        if self._ahead:
            found = await self._read_ahead(self._ahead, limit)
        else:
            found = await self._read_line(limit)
        if self._run is not None and self.caught_up:
            self.ended = await self._has_ended(self._run)
        return [LineEntry(each.position, each.run, each.entry, seen if each.position == first else 0) for each in found]

    async def wait(self) -> None:
        """Wait until there may be more to read."""
        if not self.caught_up or self.ended:
            return
        waits = self._reads.changed(self.position.entry - 1, self._run)
        if self._drains_until is None:
            await waits
        else:
            left = max(self._drains_until - monotonic(), 0)
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await waits

    async def _begin(self, run: RunId) -> None:
        """Choose how to read the tree."""
        self._ahead = ()
        head = await self._reads.head()
        self._check(head)
        oldest, row = await self._reads.oldest(run), await self._reads.row(run)
        if row is not None and row.entries and oldest != 0:
            raise _pruned(f"the history of run {run} was pruned")
        if head - self.position.entry >= SHORT_LINE:
            found = await self._reads.tree_positions(run, self.position.entry - 1)
            self._ahead, self._ahead_to = found.positions, found.head
            if not found.positions:
                self.position = max(self.position, behind(found.head))

    async def _read_ahead(self, ahead: Sequence[int], limit: int) -> list[PlacedEntry]:
        """Read entries whose positions are known."""
        wanted, self._ahead = ahead[:limit], ahead[limit:]
        found = await self._reads.placed(wanted)
        if len(found) != len(wanted):
            raise _pruned("entries were pruned while they were read")
        self.position = behind(self._ahead[0] - 1 if self._ahead else self._ahead_to)
        self.caught_up = False
        return found

    async def _read_line(self, limit: int) -> Sequence[PlacedEntry]:
        page = await self._reads.line(self.position.entry - 1, limit, self._run)
        self._check(page.head)
        if self._run is None:
            if self._pruned is None:
                self._pruned = page.pruned  # it asked for what there is
            if self.position.entry <= page.pruned and page.pruned > self._pruned:
                raise _pruned("entries behind this position were pruned")
        self.caught_up = page.reached >= page.head
        if page.reached >= self.position.entry:
            self.position = behind(page.reached)
        return page.entries

    def _check(self, head: int) -> None:
        if self.position > Position(head + 1):
            raise bad_cursor("the line has not reached this position")

    async def _has_ended(self, run: RunId) -> bool:
        """Whether nothing more will come: the run has ended, and all that it called, or is waited for no longer."""
        row = await self._reads.row(run)
        if row is None or row.status not in TERMINAL:
            return row is None
        if self._drains_until is None:
            self._drains_until = monotonic() + DRAIN_S
        if await self._reads.unended(run) and monotonic() < self._drains_until:
            return False
        page = await self._reads.line(self.position.entry - 1, 1, run)  # what came between the last page and the end
        return not page.entries


async def entries_of_line(reader: LineReader, *, follow: bool) -> AsyncGenerator[LineEntry, None]:
    """All that a reader reads: what is stored, and with `follow` what comes, until the run has ended."""
    while not reader.ended:
        for entry in await reader.read():
            yield entry
        if reader.caught_up and not follow:
            return
        await reader.wait()


async def end_last(entries: AsyncGenerator[LineEntry, None], run: RunId) -> AsyncGenerator[LineEntry, None]:
    """The entries with the end of a run behind all others: runs that it called may end after it."""
    last: LineEntry | None = None
    async with aclosing(entries):
        async for entry in entries:
            if entry.run == run and any(isinstance(decision, EndRun) for decision in entry.entry.decisions):
                last = entry
            else:
                yield entry
    if last is not None:
        yield last


def _pruned(problem: str) -> Refused:
    return Refused("history_pruned", problem, "read the state as it is now, and start at the head")
