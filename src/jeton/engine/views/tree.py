"""The journals of a run and of the runs it called, as one stream.

Each journal keeps its own order; a run comes after the entry that called it and before the one that heard of its end;
and the last entry of a run that has ended comes after everything of the runs below it.
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

LOOK_AGAIN_S = 0.05
LAST_WORDS_S = 10.0

Told: TypeAlias = tuple[RunId, Entry]


class _Calls:
    """Which runs a run calls and hears of, entry by entry.

    A fork shares entries with another run: whom that one called is no child of this one, but for the calls that were
    under way, which are made again."""

    def __init__(self, run: RunId, row: RunRow | None) -> None:
        self._run = run
        self._forked = None if row is None else row.forked
        self._shared = self._forked is not None
        self._under_way: set[TokenId] = set()

    def take(self, entry: Entry) -> tuple[list[RunId], dict[RunId, int]]:
        """The runs the entry begins, and those whose end it tells, each with the event that does."""
        begun: list[TokenId] = []
        over: dict[RunId, int] = {}
        seq = entry.first_event
        for decision in entry.decisions:
            match decision:
                case CallWorkflow(token):
                    self._under_way.add(token)
                    begun += () if self._shared else (token,)
                case EndChild(token):
                    self._under_way.discard(token)
                    if not self._shared:
                        over[child_run_id(self._run, token)] = seq
                case StopChild(token):
                    self._under_way.discard(token)
                case ForkHistory(run=run) if self._forked is not None and run == self._forked.run:
                    self._shared = False  # the other may be a fork too, and say so in what is shared
                    begun += sorted(self._under_way)
                case _:
                    pass
            seq += count_events((decision,))
        return [child_run_id(self._run, token) for token in begun], over


def _ends(entry: Entry) -> bool:
    return any(isinstance(decision, EndRun) for decision in entry.decisions)


async def _ended_by(reads: Reads, run: RunId, after: int) -> set[RunId]:
    """The runs it called whose end is among its events up to `after`."""
    if after < 0:
        return set()
    calls = _Calls(run, await reads.row(run))
    entries = await reads.entries(run)
    return {child for entry in entries for child, seq in calls.take(entry)[1].items() if seq <= after}


async def read_tree(reads: Reads, run: RunId, after: int = -1) -> AsyncGenerator[Told, None]:
    """What is stored. Runs whose end is among the events up to `after` are left out."""
    calls, past = _Calls(run, await reads.row(run)), await _ended_by(reads, run, after)
    below: dict[RunId, _Ahead] = {}
    for entry in await reads.entries(run):
        begun, over = calls.take(entry)
        for child, ahead in below.items():
            async for told in ahead.rest() if child in over or _ends(entry) else ahead.until(entry.at):
                yield told
        yield run, entry
        below.update({child: _Ahead(read_tree(reads, child)) for child in begun if child not in past})
    for ahead in below.values():
        async for told in ahead.rest():
            yield told


class _Ahead:
    """A stream whose next item can be looked at."""

    def __init__(self, items: AsyncGenerator[Told, None]) -> None:
        self._items = items
        self._next: Told | None = None

    async def until(self, at: int) -> AsyncGenerator[Told, None]:
        """What was made before a time."""
        while (found := await self._peek()) is not None and found[1].at < at:
            self._next = None
            yield found

    async def rest(self) -> AsyncGenerator[Told, None]:
        """Everything that is left."""
        while (found := await self._peek()) is not None:
            self._next = None
            yield found

    async def _peek(self) -> Told | None:
        if self._next is None:
            self._next = await anext(self._items, None)
        return self._next


async def follow_tree(reads: Reads, run: RunId, after: int = -1) -> AsyncGenerator[Told, None]:
    """What is stored, and what is to come until the run has ended."""
    following = _Following(reads)
    root = following.begin(run, after)
    try:
        while True:
            while not following.told.empty():
                yield following.told.get_nowait()
            if root.done():
                break
            getting = asyncio.create_task(following.told.get())
            await asyncio.wait({root, getting}, return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                yield getting.result()
            getting.cancel()
        root.result()
    finally:
        await following.stop()


class _Following:
    """One reader for each run of the tree. A reader waits for those below it where the order asks for it."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads
        self._tasks: list[Task[None]] = []
        self.told: Queue[Told] = Queue(maxsize=100)

    def begin(self, run: RunId, after: int = -1) -> "Task[None]":
        task = asyncio.create_task(self._read(run, after))
        self._tasks.append(task)
        return task

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(self, run: RunId, after: int) -> None:
        while (row := await self._reads.row(run)) is None:  # it was called, and has not begun
            await asyncio.sleep(LOOK_AGAIN_S)
        calls, below = _Calls(run, row), dict[RunId, Task[None]]()
        past = await _ended_by(self._reads, run, after)
        async for entry in self._reads.watch(run):
            begun, over = calls.take(entry)
            await self._last_words({child: task for child, task in below.items() if child in over or _ends(entry)})
            await self.told.put((run, entry))
            below.update({child: self.begin(child) for child in begun if child not in past})

    async def _last_words(self, below: "dict[RunId, Task[None]]") -> None:
        """Wait for what these still have to say. One that never came to begin, or that nobody moves, is left."""
        begun = {task for child, task in below.items() if await self._reads.row(child) is not None}
        if begun:
            done, _ = await asyncio.wait(begun, timeout=LAST_WORDS_S)
            for task in done:
                task.result()
