"""The journals of a run and of the runs it called, as one stream.

Each journal keeps its own order; a run comes after the entry that called it and before the one that heard of its end;
and the last entry of a run that has ended comes after everything of the runs below it.
"""

import asyncio
from asyncio import Queue, Task
from collections.abc import AsyncGenerator, Iterator
from typing import TypeAlias

from jeton.apply.record import count_events
from jeton.hosts.sqlite import SqliteHost
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

    def __init__(self, host: SqliteHost, run: RunId) -> None:
        row = host.row(run)
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


def _ended_by(host: SqliteHost, run: RunId, after: int) -> set[RunId]:
    """The runs it called whose end it told up to an event."""
    calls = _Calls(host, run)
    entries = host.entries(run) if after >= 0 else []
    return {child for entry in entries for child, seq in calls.take(entry)[1].items() if seq <= after}


def read_tree(host: SqliteHost, run: RunId, after: int = -1) -> Iterator[Told]:
    """What is stored. Runs whose end was told by event `after` are left out."""
    calls, past = _Calls(host, run), _ended_by(host, run, after)
    below: dict[RunId, _Ahead] = {}
    for entry in host.entries(run):
        begun, over = calls.take(entry)
        for child, ahead in below.items():
            yield from ahead.rest() if child in over or _ends(entry) else ahead.until(entry.at)
        yield run, entry
        below.update({child: _Ahead(read_tree(host, child)) for child in begun if child not in past})
    for ahead in below.values():
        yield from ahead.rest()


class _Ahead:
    """A stream whose next item can be looked at."""

    def __init__(self, items: Iterator[Told]) -> None:
        self._items = items
        self._next: Told | None = None

    def until(self, at: int) -> Iterator[Told]:
        """What was made before a time."""
        while (found := self._peek()) is not None and found[1].at < at:
            self._next = None
            yield found

    def rest(self) -> Iterator[Told]:
        while (found := self._peek()) is not None:
            self._next = None
            yield found

    def _peek(self) -> Told | None:
        if self._next is None:
            self._next = next(self._items, None)
        return self._next


async def follow_tree(host: SqliteHost, run: RunId, after: int = -1) -> AsyncGenerator[Told, None]:
    """What is stored, and what is to come until the run has ended."""
    following = _Following(host)
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

    def __init__(self, host: SqliteHost) -> None:
        self._host = host
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
        while self._host.row(run) is None:  # it was called, and has not begun
            await asyncio.sleep(LOOK_AGAIN_S)
        calls, below = _Calls(self._host, run), dict[RunId, Task[None]]()
        past = _ended_by(self._host, run, after)
        async for entry in self._host.watch(run):
            begun, over = calls.take(entry)
            await self._last_words({child: task for child, task in below.items() if child in over or _ends(entry)})
            await self.told.put((run, entry))
            below.update({child: self.begin(child) for child in begun if child not in past})

    async def _last_words(self, below: "dict[RunId, Task[None]]") -> None:
        """Wait for what these still have to say. One that never came to begin, or that nobody moves, is left."""
        begun = {task for child, task in below.items() if self._host.row(child) is not None}
        if begun:
            done, _ = await asyncio.wait(begun, timeout=LAST_WORDS_S)
            for task in done:
                task.result()
