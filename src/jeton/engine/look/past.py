"""Questions about a run as it was after one of its journal entries."""

import asyncio
from typing import cast

import msgspec

from jeton.actor.rows import RunRow, run_row
from jeton.engine.arguments import check_whole
from jeton.engine.look.explaining import context_of_token, explanation_of
from jeton.engine.look.history import Histories, check_entry
from jeton.engine.lookup import Lookup
from jeton.engine.reading import Context
from jeton.engine.views.explain.explain import RunHistory
from jeton.engine.views.explain.views import Explanation
from jeton.engine.views.flows import node_views
from jeton.engine.views.past.changes import EntryChanges, context_in
from jeton.engine.views.past.entries import EntryView, entry_view
from jeton.engine.views.past.fold import FoldedRun
from jeton.engine.views.past.graph import RunGraph, graph_of
from jeton.engine.views.past.slots import SlotsView
from jeton.engine.views.record import RunRecord, record_of
from jeton.engine.views.tokens import TokenView, token_views
from jeton.model.failure import Refused
from jeton.model.ids import GroupId
from jeton.model.json import JsonObject
from jeton.model.state.run import Head

MOST_ENTRIES = 1_000
MOST_SLOTS = 1 << 31


class Past:
    """Questions about the past of the runs of one host."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._reads = lookup.host.reads
        self.histories = Histories(self._reads)

    async def get(self, run: str, at: int) -> RunRecord:
        """A run's record as it was."""
        folded, row = await self._folded(run, at)
        head = msgspec.structs.replace(folded.state.head, run=row.run)
        was = run_row(head, folded.live.timers.next_due())
        return record_of(was, folded.state, node_views(folded.program, folded.live))

    async def graph(self, run: str, at: int | None) -> RunGraph:
        """The graph of a run, as it is or was."""
        folded, row = await self._folded(run, at)
        return graph_of(folded, live=folded.entry == row.entries - 1)

    async def context(self, run: str, token: int | None, at: int) -> Context:
        """A run's data as it was, or as a token saw it then."""
        if token is not None:
            return await asyncio.to_thread(context_of_token, await self._history(run, at), token)
        folded, _ = await self._folded(run, at)
        found = context_in(folded.state)
        return Context(found["input"], cast("JsonObject", found["state"]), found["output"])

    async def tokens(self, run: str, at: int) -> tuple[TokenView, ...]:
        """The tokens that a run had had by then, as they were."""
        history = await self._history(run, at)
        return tuple(await asyncio.to_thread(token_views, history.entries, history.head.run))

    async def explain(self, run: str, token: int | None, transition: int | None, at: int) -> Explanation:
        """Why a run, a token or a transition had done what it did by then."""
        return await asyncio.to_thread(explanation_of, await self._history(run, at), token, transition, None)

    async def entries(self, run: str, after: int, limit: int) -> tuple[EntryView, ...]:
        """A run's journal entries behind one of them, oldest first, as lists show them."""
        check_whole("after", after, -1, MOST_SLOTS)
        check_whole("limit", limit, 1, MOST_ENTRIES)
        row = await self._lookup.row(run)
        last = min(after + limit, row.entries - 1)
        found = await self.histories.entries(row, after + 1, last) if last > after else []
        return tuple(map(entry_view, found))

    async def deltas(self, run: str, first: int, last: int) -> tuple[EntryChanges, ...]:
        """What each entry from one number to another changed, both included."""
        row = await self._lookup.row(run)
        if first > last:
            raise Refused("bad_argument", f"entry {first} is behind entry {last}", "name the earlier one first")
        program = await self._lookup.program(row.workflow, row.version)
        return tuple(await self.histories.changes(program, row, first, last))

    async def slots(self, run: str, group: int, first: int, last: int | None, at: int | None) -> SlotsView:
        """The slots of a fan-out from one index up to another, which is not included."""
        check_whole("group", group, 0, MOST_SLOTS)
        check_whole("first", first, 0, MOST_SLOTS)
        row = await self._lookup.row(run)
        program = await self._lookup.program(row.workflow, row.version)
        entry = row.entries - 1 if at is None else at
        table = await self.histories.slots(program, row, GroupId(group), entry)
        return table.view(first, table.total if last is None else last)

    async def _folded(self, run: str, at: int | None) -> tuple[FoldedRun, RunRow]:
        row = await self._lookup.row(run)
        program = await self._lookup.program(row.workflow, row.version)
        return await self.histories.at(program, row, row.entries - 1 if at is None else at), row

    async def _history(self, run: str, at: int) -> RunHistory:
        """The program of a run, and its journal up to an entry."""
        row = await self._lookup.row(run)
        check_entry(row, at)
        program = await self._lookup.program(row.workflow, row.version)
        entries = await self.histories.entries(row, 0, at)
        return RunHistory(program, Head(row.run, row.workflow, row.version), entries)
