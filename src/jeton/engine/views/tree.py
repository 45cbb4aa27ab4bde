"""The journals of a run and of the runs it called, merged into one stream.

Each journal keeps its order. The entries of a called run come after the entry that called it and before the entry that
records its end, and the last entry of a run comes after all entries of the runs it called.
"""

import asyncio
from asyncio import Queue, Task
from collections.abc import AsyncGenerator
from typing import TypeAlias

from jeton.actor.host import Reads
from jeton.actor.rows import RunRow
from jeton.apply.record import count_events
from jeton.model.decision import CallWorkflow, EndChild, EndRun, ForkHistory, StopChild
from jeton.model.entry import Entry
from jeton.model.ids import RunId, TokenId, child_run_id

POLL_S = 0.05
DRAIN_TIMEOUT_S = 10.0

RunEntry: TypeAlias = tuple[RunId, Entry]


class _Calls:
    """The runs that a run calls, entry by entry.

    A fork shares entries with another run. The runs called in those are not its children, except for the calls that had
    not ended: a fork makes them again."""

    def __init__(self, run: RunId, row: RunRow | None) -> None:
        self._run = run
        self._forked = None if row is None else row.forked
        self._shared = self._forked is not None
        self._under_way: set[TokenId] = set()

    def take(self, entry: Entry) -> tuple[list[RunId], dict[RunId, int]]:
        """The runs that the entry calls, and those whose end it records, each with the number of that event."""
        begun: list[TokenId] = []
        ended: dict[RunId, int] = {}
        seq = entry.first_event
        for decision in entry.decisions:
            match decision:
                case CallWorkflow(token):
                    self._under_way.add(token)
                    begun += () if self._shared else (token,)
                case EndChild(token):
                    self._under_way.discard(token)
                    if not self._shared:
                        ended[child_run_id(self._run, token)] = seq
                case StopChild(token):
                    self._under_way.discard(token)
                case ForkHistory(run=run) if self._forked is not None and run == self._forked.run:
                    self._shared = False  # shared entries may hold another ForkHistory, if the other run is a fork too
                    begun += sorted(self._under_way)
                case _:
                    pass
            seq += count_events((decision,))
        return [child_run_id(self._run, token) for token in begun], ended


def _ends(entry: Entry) -> bool:
    return any(isinstance(decision, EndRun) for decision in entry.decisions)


async def _ended_by(reads: Reads, run: RunId, after: int) -> set[RunId]:
    """The runs it called whose end is among its events up to `after`."""
    if after < 0:
        return set()
    calls = _Calls(run, await reads.row(run))
    entries = await reads.entries(run)
    return {child for entry in entries for child, seq in calls.take(entry)[1].items() if seq <= after}


async def read_tree(reads: Reads, run: RunId, after: int = -1) -> AsyncGenerator[RunEntry, None]:
    """The stored entries, without called runs whose end is recorded up to event `after`."""
    calls, past = _Calls(run, await reads.row(run)), await _ended_by(reads, run, after)
    below: dict[RunId, _Peekable] = {}
    for entry in await reads.entries(run):
        begun, ended = calls.take(entry)
        for child, ahead in below.items():
            async for found in ahead.rest() if child in ended or _ends(entry) else ahead.until(entry.at):
                yield found
        yield run, entry
        below.update({child: _Peekable(read_tree(reads, child)) for child in begun if child not in past})
    for ahead in below.values():
        async for found in ahead.rest():
            yield found


class _Peekable:
    """An iterator of entries whose next item can be seen in advance."""

    def __init__(self, items: AsyncGenerator[RunEntry, None]) -> None:
        self._items = items
        self._next: RunEntry | None = None

    async def until(self, at: int) -> AsyncGenerator[RunEntry, None]:
        """The entries committed before a time."""
        while (found := await self._peek()) is not None and found[1].at < at:
            self._next = None
            yield found

    async def rest(self) -> AsyncGenerator[RunEntry, None]:
        """All remaining entries."""
        while (found := await self._peek()) is not None:
            self._next = None
            yield found

    async def _peek(self) -> RunEntry | None:
        if self._next is None:
            self._next = await anext(self._items, None)
        return self._next


async def follow_tree(reads: Reads, run: RunId, after: int = -1) -> AsyncGenerator[RunEntry, None]:
    """The stored entries, and new ones until the run has ended."""
    reader = _TreeReader(reads)
    root = reader.begin(run, after)
    try:
        while True:
            while not reader.entries.empty():
                yield reader.entries.get_nowait()
            if root.done():
                break
            getting = asyncio.create_task(reader.entries.get())
            try:
                await asyncio.wait({root, getting}, return_when=asyncio.FIRST_COMPLETED)
                if getting.done():
                    yield getting.result()
            finally:
                getting.cancel()
                await asyncio.wait({getting})
        root.result()
    finally:
        await reader.stop()


class _TreeReader:
    """One task per run of the tree. A task waits for the tasks of called runs where the order requires it."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads
        self._tasks: list[Task[None]] = []
        self.entries: Queue[RunEntry] = Queue(maxsize=100)

    def begin(self, run: RunId, after: int = -1) -> "Task[None]":
        task = asyncio.create_task(self._read(run, after))
        self._tasks.append(task)
        return task

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(self, run: RunId, after: int) -> None:
        while (row := await self._reads.row(run)) is None:  # it was called and has not begun yet
            await asyncio.sleep(POLL_S)
        calls, below = _Calls(run, row), dict[RunId, Task[None]]()
        past = await _ended_by(self._reads, run, after)
        async for entry in self._reads.watch(run):
            begun, ended = calls.take(entry)
            await self._drain({child: task for child, task in below.items() if child in ended or _ends(entry)})
            await self.entries.put((run, entry))
            below.update({child: self.begin(child) for child in begun if child not in past})

    async def _drain(self, below: "dict[RunId, Task[None]]") -> None:
        """Wait for the readers of ended runs, with a timeout: a run may never begin, or have no owner."""
        begun = {task for child, task in below.items() if await self._reads.row(child) is not None}
        if begun:
            done, _ = await asyncio.wait(begun, timeout=DRAIN_TIMEOUT_S)
            for task in done:
                task.result()
