"""The queries of an engine. They need no ownership of the store, and change nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from jeton.engine.look.line import LineReader
from jeton.engine.look.position import LineEntry, Position
from jeton.engine.lookup import Lookup
from jeton.engine.reading import Context, Reading
from jeton.engine.views.record import RunRecord
from jeton.model.entry import Entry
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunStatus

if TYPE_CHECKING:
    from jeton.engine.look.past import Past
    from jeton.engine.views.explain.views import Explanation
    from jeton.engine.views.gates import GateView
    from jeton.engine.views.past.changes import EntryChanges
    from jeton.engine.views.past.entries import EntryView
    from jeton.engine.views.past.graph import RunGraph
    from jeton.engine.views.past.slots import SlotsView
    from jeton.engine.views.published import EmittedEvent, MetricValue
    from jeton.engine.views.tokens import TokenView
    from jeton.engine.views.what_if import WhatIf


class Queries:
    """What can be asked of an engine."""

    def __init__(self, lookup: Lookup) -> None:
        self._reading = Reading(lookup)
        self._lookup = lookup

    @cached_property
    def _past(self) -> Past:
        from jeton.engine.look.past import Past  # most processes never look back

        return Past(self._lookup)

    async def get(self, run: str, *, at: int | None = None) -> RunRecord:
        """A run's record; with `at`, as it was after that journal entry."""
        return await self._reading.get(run) if at is None else await self._past.get(run, at)

    async def list(
        self,
        *,
        workflow: str | None = None,
        status: RunStatus | None = None,
        after: str | None = None,
        limit: int = 100,
        q: str | None = None,
    ) -> tuple[RunRecord, ...]:
        """Runs, newest first; `after` is the last run of the previous page.

        `q` is a query: words, and `field:value` such as `error:timeout state.order.amount:12`. A damaged run keeps its
        status, and has the error `run_damaged`."""
        return await self._reading.list(workflow=workflow, status=status, after=after, limit=limit, q=q)

    async def children(self, run: str) -> tuple[RunRecord, ...]:
        """The runs it called, in order; not those that they called."""
        return await self._reading.children(run)

    async def ended(self, run: str, timeout: float | None = None) -> RunRecord:
        """Wait for a run's end. Raises TimeoutError if it has not ended in time; the run goes on."""
        return await self._reading.ended(run, timeout)

    async def gates(self, run: str | None = None) -> tuple[GateView, ...]:
        """Open gates, oldest first: of one run and the runs it called, or of all."""
        return await self._reading.gates(run)

    def events(
        self, run: str, after: int | Mapping[str, int] = -1, *, follow: bool = False, trace: bool = False
    ) -> AsyncGenerator[JsonObject, None]:
        """The events of a run and of the runs it called, each with its own `run_id` and `seq`; the run's end is last.

        `after` is a sequence number of the run itself: what was committed up to it is left out. Or one for each run:
        those up to it are left out. With `follow`, also events to come, until the run has ended.
        """
        return self._reading.events(run, after, follow=follow, trace=trace)

    def tree(self, run: str, after: int = -1, *, follow: bool = False) -> AsyncGenerator[tuple[RunId, Entry], None]:
        """The journals of a run and of the runs it called, in the order of their commits; the run's end is last.

        Entries before the one with the first event behind `after` are left out."""
        return self._reading.tree(run, after, follow=follow)

    def journal(self, run: str, after: int = -1, *, follow: bool = False) -> AsyncGenerator[Entry, None]:
        """A run's own journal entries, oldest first; with `follow`, also those to come, until the run has ended."""
        return self._reading.journal(run, after, follow=follow)

    def line(
        self, after: Position | str | None = None, *, run: str | None = None, follow: bool = False
    ) -> AsyncGenerator[LineEntry, None]:
        """The journal entries of all runs in the order of their commits, each with its position.

        `run`: only those of a run and of the runs it called, until all of them have ended. `after`: only what lies
        behind a position, which may be the text of one. With `follow`, also what is to come. Raises Refused:
        `bad_cursor` for what is no position of this store, `history_pruned` if something behind it was pruned."""
        return self._reading.line(after, run=run, follow=follow)

    async def line_reader(self, run: str | None = None, after: Position | str | None = None) -> LineReader:
        """A reader of the line that says when it has read all that is stored, and can be waited for with a timeout."""
        return await self._reading.line_reader(run, after)

    async def head(self) -> Position:
        """The place in the line behind all that is stored: what is read from it is new."""
        return await self._reading.head()

    async def position(self, run: str, seq: int) -> Position:
        """The place in the line behind an event of a run, by its sequence number; -1: before the first."""
        return await self._reading.position(run, seq)

    async def entries(self, run: str, after: int = -1, limit: int = 100) -> tuple[EntryView, ...]:
        """A run's journal entries behind the one numbered `after`, oldest first, each in a few words."""
        return await self._past.entries(run, after, limit)

    async def graph(self, run: str, *, at: int | None = None) -> RunGraph:
        """How many tokens are where in a run's graph, and how far its fan-outs are; or were after an entry."""
        return await self._past.graph(run, at)

    async def deltas(self, run: str, first: int, last: int) -> tuple[EntryChanges, ...]:
        """What each journal entry from one number to another changed, both included: counts by node, and data.

        Added to the graph and the context before the first of them, they give those after each."""
        return await self._past.deltas(run, first, last)

    async def slots(
        self, run: str, group: int, first: int = 0, last: int | None = None, *, at: int | None = None
    ) -> SlotsView:
        """The slots of a fan-out from index `first` up to `last`, which is not included, and their failures."""
        return await self._past.slots(run, group, first, last, at)

    async def tokens(self, run: str, *, at: int | None = None) -> tuple[TokenView, ...]:
        """Every token the run ever had; with `at`, as they were after that journal entry."""
        return await self._reading.tokens(run) if at is None else await self._past.tokens(run, at)

    async def context(self, run: str, *, token: int | None = None, at: int | None = None) -> Context:
        """The run's data as it is now, or was when the run ended; with `token`, as that token sees or saw it.

        With `at`, as it was after that journal entry."""
        return await self._reading.context(run, token) if at is None else await self._past.context(run, token, at)

    async def emitted(
        self, *, run: str | None = None, event: str | None = None, after: int = 0, limit: int = 100
    ) -> tuple[EmittedEvent, ...]:
        """Events that actions published, oldest first: of a run, of a name, or all, behind the number `after`."""
        return await self._reading.emitted(run=run, event=event, after=after, limit=limit)

    async def metrics(self, run: str | None = None) -> tuple[MetricValue, ...]:
        """What actions measured in a run; or in all runs, including those that were pruned."""
        return await self._reading.metrics(run)

    async def explain(
        self, run: str, *, token: int | None = None, transition: int | None = None, at: int | None = None
    ) -> Explanation:
        """Why the run, one of its tokens or one of its transitions did what it did; with `at`, by that entry."""
        if at is not None:
            return await self._past.explain(run, token, transition, at)
        return await self._reading.explain(run, token=token, transition=transition)

    async def simulate(
        self,
        run: str,
        token: int,
        *,
        result: Json | UnsetType = UNSET,
        failure: str | None = None,
        arrives_at: str | None = None,
    ) -> WhatIf:
        """What would be decided if this token finished with that result, failed, or arrived at that fan-in.

        `result` is what its task returns, its gate is answered, its signal carries or the run it called puts out.
        Nothing is changed, and nothing is done."""
        return await self._reading.simulate(run, token, result=result, failure=failure, arrives_at=arrives_at)
