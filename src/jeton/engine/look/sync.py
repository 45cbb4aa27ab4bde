"""The queries of an engine without `await`, for scripts: the same methods, run on an event loop in a thread of its own.

Generated from the async engine by `make sync`; do not edit.
"""

from __future__ import annotations  # as the modules have it that these methods are from

from collections.abc import Iterator, Mapping

from msgspec import UNSET, UnsetType

from jeton.engine.look.position import LineEntry, Position
from jeton.engine.look.queries import Queries
from jeton.engine.loop_thread import LoopThread
from jeton.engine.reading import Context
from jeton.engine.views.explain.views import Explanation
from jeton.engine.views.gates import GateView
from jeton.engine.views.past.changes import EntryChanges
from jeton.engine.views.past.entries import EntryView
from jeton.engine.views.past.graph import RunGraph
from jeton.engine.views.past.slots import SlotsView
from jeton.engine.views.published import EmittedEvent, MetricValue
from jeton.engine.views.record import RunRecord
from jeton.engine.views.tokens import TokenView
from jeton.engine.views.what_if import WhatIf
from jeton.model.entry import Entry
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import RunStatus


class SyncQueries:
    """What can be asked of an engine. Each method does what the method of `Queries` with the same name does."""

    def __init__(self, queries: Queries, loop: LoopThread) -> None:
        self._queries = queries
        self._loop = loop

    def get(self, run: str, *, at: int | None = None) -> RunRecord:
        """A run's record; with `at`, as it was after that journal entry."""
        return self._loop.wait(self._queries.get(run, at=at))

    def list(
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
        return self._loop.wait(self._queries.list(workflow=workflow, status=status, after=after, limit=limit, q=q))

    def children(self, run: str) -> tuple[RunRecord, ...]:
        """The runs it called, in order; not those that they called."""
        return self._loop.wait(self._queries.children(run))

    def ended(self, run: str, timeout: float | None = None) -> RunRecord:
        """Wait for a run's end. Raises TimeoutError if it has not ended in time; the run goes on."""
        return self._loop.wait(self._queries.ended(run, timeout))

    def gates(self, run: str | None = None) -> tuple[GateView, ...]:
        """Open gates, oldest first: of one run and the runs it called, or of all."""
        return self._loop.wait(self._queries.gates(run))

    def events(
        self, run: str, after: int | Mapping[str, int] = -1, *, follow: bool = False, trace: bool = False
    ) -> Iterator[JsonObject]:
        """The events of a run and of the runs it called, each with its own `run_id` and `seq`; the run's end is last.

        `after` is a sequence number of the run itself: what was committed up to it is left out. Or one for each run:
        those up to it are left out. With `follow`, also events to come, until the run has ended."""
        return self._loop.each(self._queries.events(run, after, follow=follow, trace=trace))

    def tree(self, run: str, after: int = -1, *, follow: bool = False) -> Iterator[tuple[RunId, Entry]]:
        """The journals of a run and of the runs it called, in the order of their commits; the run's end is last.

        Entries before the one with the first event behind `after` are left out."""
        return self._loop.each(self._queries.tree(run, after, follow=follow))

    def journal(self, run: str, after: int = -1, *, follow: bool = False) -> Iterator[Entry]:
        """A run's own journal entries, oldest first; with `follow`, also those to come, until the run has ended."""
        return self._loop.each(self._queries.journal(run, after, follow=follow))

    def line(
        self, after: Position | str | None = None, *, run: str | None = None, follow: bool = False
    ) -> Iterator[LineEntry]:
        """The journal entries of all runs in the order of their commits, each with its position.

        `run`: only those of a run and of the runs it called, until all of them have ended. `after`: only what lies
        behind a position, which may be the text of one. With `follow`, also what is to come. Raises Refused:
        `bad_cursor` for what is no position of this store, `history_pruned` if something behind it was pruned."""
        return self._loop.each(self._queries.line(after, run=run, follow=follow))

    def head(self) -> Position:
        """The place in the line behind all that is stored: what is read from it is new."""
        return self._loop.wait(self._queries.head())

    def position(self, run: str, seq: int) -> Position:
        """The place in the line behind an event of a run, by its sequence number; -1: before the first."""
        return self._loop.wait(self._queries.position(run, seq))

    def entries(self, run: str, after: int = -1, limit: int = 100) -> tuple[EntryView, ...]:
        """A run's journal entries behind the one numbered `after`, oldest first, each in a few words."""
        return self._loop.wait(self._queries.entries(run, after, limit))

    def graph(self, run: str, *, at: int | None = None) -> RunGraph:
        """How many tokens are where in a run's graph, and how far its fan-outs are; or were after an entry."""
        return self._loop.wait(self._queries.graph(run, at=at))

    def deltas(self, run: str, first: int, last: int) -> tuple[EntryChanges, ...]:
        """What each journal entry from one number to another changed, both included: counts by node, and data.

        Added to the graph and the context before the first of them, they give those after each."""
        return self._loop.wait(self._queries.deltas(run, first, last))

    def slots(
        self, run: str, group: int, first: int = 0, last: int | None = None, *, at: int | None = None
    ) -> SlotsView:
        """The slots of a fan-out from index `first` up to `last`, which is not included, and their failures."""
        return self._loop.wait(self._queries.slots(run, group, first, last, at=at))

    def tokens(self, run: str, *, at: int | None = None) -> tuple[TokenView, ...]:
        """Every token the run ever had; with `at`, as they were after that journal entry."""
        return self._loop.wait(self._queries.tokens(run, at=at))

    def context(self, run: str, *, token: int | None = None, at: int | None = None) -> Context:
        """The run's data as it is now, or was when the run ended; with `token`, as that token sees or saw it.

        With `at`, as it was after that journal entry."""
        return self._loop.wait(self._queries.context(run, token=token, at=at))

    def emitted(
        self, *, run: str | None = None, event: str | None = None, after: int = 0, limit: int = 100
    ) -> tuple[EmittedEvent, ...]:
        """Events that actions published, oldest first: of a run, of a name, or all, behind the number `after`."""
        return self._loop.wait(self._queries.emitted(run=run, event=event, after=after, limit=limit))

    def metrics(self, run: str | None = None) -> tuple[MetricValue, ...]:
        """What actions measured in a run; or in all runs, including those that were pruned."""
        return self._loop.wait(self._queries.metrics(run))

    def explain(
        self, run: str, *, token: int | None = None, transition: int | None = None, at: int | None = None
    ) -> Explanation:
        """Why the run, one of its tokens or one of its transitions did what it did; with `at`, by that entry."""
        return self._loop.wait(self._queries.explain(run, token=token, transition=transition, at=at))

    def simulate(
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
        return self._loop.wait(
            self._queries.simulate(run, token, result=result, failure=failure, arrives_at=arrives_at)
        )
