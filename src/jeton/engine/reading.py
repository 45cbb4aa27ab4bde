"""Queries. They need no ownership of the store, and change nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType

from jeton.actor.queries.listing import RunFilter
from jeton.actor.rows import EntryPlace, GateRow, RunRow
from jeton.apply.record import count_events
from jeton.engine.arguments import MOST_ROWS, check_maybe_texts, check_texts, check_whole
from jeton.engine.browse.query import read_query
from jeton.engine.browse.search import Search
from jeton.engine.look.line import LineReader, end_last, entries_of_line
from jeton.engine.look.position import START, LineEntry, Position, behind, position_in
from jeton.engine.lookup import Lookup
from jeton.engine.views.events import events_in, trace_in
from jeton.engine.views.firings import firing_view
from jeton.engine.views.flows import node_views
from jeton.engine.views.published import EmittedEvent, MetricValue, emitted_event, metric_value
from jeton.engine.views.record import RunRecord, record_of
from jeton.model.definition.workflow import Library
from jeton.model.entry import Entry
from jeton.model.failure import Refused, RunError
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject
from jeton.model.reference import parse_reference
from jeton.model.state.phase import WaitingForGate
from jeton.model.state.run import TERMINAL, Head, RunStatus
from jeton.model.state.talk import place_of

if TYPE_CHECKING:
    from jeton.engine.views.explain.explain import (
        RunHistory,
    )
    from jeton.engine.views.explain.views import Explanation
    from jeton.engine.views.gates import GateView
    from jeton.engine.views.tokens import TokenView
    from jeton.engine.views.what_if import WhatIf


class Context(msgspec.Struct, frozen=True):
    """A run's data. `branch` is set for a token only: `_branch` as its expressions see it, None outside a fan-out."""

    input: Json
    state: JsonObject
    output: Json
    branch: Json | UnsetType = UNSET


class Reading:
    """Queries on the runs of one host."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._reads = lookup.host.reads
        self._search = Search(lookup)

    # runs

    async def get(self, run: str) -> RunRecord:
        """A run's record."""
        row = await self._lookup.row(run)
        record = self._record_set_aside(row) or await self._record(row)
        fired = tuple(map(firing_view, await self._reads.fired_by(row.run)))
        return msgspec.structs.replace(record, fired=fired)

    async def _record(self, row: RunRow) -> RunRecord:
        """The record with what the state adds to the row. Of an ended run, only a flow's state adds something."""
        program = await self._lookup.program(row.workflow, row.version)
        if row.status in TERMINAL and program.flow is None:
            return record_of(row, None)
        live = await self._reads.live(row.run)
        return record_of(row, None if live is None else live.state, node_views(program, live))

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

        A damaged run keeps its status, and has the error `run_damaged`; one that is set aside, `run_set_aside`."""
        check_maybe_texts(workflow=workflow, status=status, after=after, q=q)
        check_whole("limit", limit, 1, MOST_ROWS)
        last = None if after is None else RunId(after)
        if q is None:
            rows = await self._reads.rows(workflow=workflow, status=status, after=last, limit=limit)
        else:
            statuses: frozenset[RunStatus] = frozenset() if status is None else frozenset((status,))
            rows = await self._search.all(read_query(q), RunFilter(workflow, statuses), last, limit)
        return await self.listed(rows)

    async def listed(self, rows: Iterable[RunRow]) -> tuple[RunRecord, ...]:
        """The records of rows as lists have them."""
        return tuple(
            [record_of(row, None) if row.status in TERMINAL else await self._record_or_damage(row) for row in rows]
        )

    async def _record_or_damage(self, row: RunRow) -> RunRecord:
        """The record of a run; of one that cannot be read, its row with the error `run_damaged`."""
        try:
            return self._record_set_aside(row) or await self._record(row)
        except Refused as refused:
            error = RunError("run_damaged", refused.problem)
            return msgspec.structs.replace(record_of(row, None), error=error)

    def _record_set_aside(self, row: RunRow) -> RunRecord | None:
        """The row of a run that is set aside, with the error `run_set_aside`; loading it may end this process too."""
        refused = self._lookup.host.set_aside.get(row.run)
        if refused is None or row.status in TERMINAL:
            return None
        return msgspec.structs.replace(record_of(row, None), error=RunError("run_set_aside", refused.problem))

    async def children(self, run: str) -> tuple[RunRecord, ...]:
        """The runs it called, in order; not those that they called."""
        rows = await self._reads.children((await self._lookup.row(run)).run)
        return tuple(record_of(row, None) for row in rows)

    async def ended(self, run: str, timeout: float | None = None) -> RunRecord:
        """Wait for a run's end. Raises TimeoutError if it has not ended in time; the run goes on."""
        check_texts(run=run)
        if timeout is None:
            return await self._record(await self._lookup.host.ended(RunId(run)))
        async with asyncio.timeout(timeout):
            row = await self._lookup.host.ended(RunId(run))
        return await self._record(row)

    async def gates(self, run: str | None = None) -> tuple[GateView, ...]:
        """Open gates, oldest first: of one run and the runs it called, or of all."""
        from jeton.engine.views.gates import approval_view, gate_view, question_view

        if run is None:
            rows = await self._reads.gates()
        else:
            tree = await self._lookup.tree((await self._lookup.row(run)).run)
            rows = [row for each in tree for row in await self._reads.gates(each)]
            rows.sort(key=lambda row: (row.since, row.run, row.token))
        views: list[GateView] = []
        for row in rows:
            known = await self._reads.row(row.run)
            if known is not None:
                program = await self._lookup.program(known.workflow, known.version)
                if row.question is not None:
                    views.append(question_view(row, row.question))
                elif program.talk is None:
                    views.append(gate_view(row, program.workflow, await self._answered_by(row)))
                else:
                    views.append(approval_view(row, program, await self._call_input(row)))
        return tuple(views)

    async def _answered_by(self, row: GateRow) -> tuple[str, ...]:
        """Who has answered a gate that needs more answers."""
        live = await self._reads.live(row.run) if row.answers else None
        token = None if live is None else live.state.tokens.get(row.token)
        if token is None or not isinstance(token.phase, WaitingForGate):
            return ()
        return tuple(answer.by for answer in token.phase.answers if answer.by is not None)

    async def _call_input(self, row: GateRow) -> Json:
        """The input of the tool call that an approval is for."""
        live = await self._reads.live(row.run)
        turn, move, call = place_of(row.path)
        talk = None if live is None else live.state.talk
        if talk is None or move is None or call is None or (turn, move) not in talk.moves:
            return None
        return talk.calls_of(turn, move)[call].input

    # history

    async def events(
        self, run: str, after: int | Mapping[str, int] = -1, *, follow: bool = False, trace: bool = False
    ) -> AsyncGenerator[JsonObject, None]:
        """The events of a run and of the runs it called, each with its own `run_id` and `seq`; the run's end is last.

        `after` is a sequence number of the run itself: what was committed up to it is left out. Or one for each run:
        those up to it are left out. With `follow`, also events to come, until the run has ended."""
        root = (await self._lookup.row(run)).run
        seqs = dict(after) if isinstance(after, Mapping) else {str(root): after}
        async with aclosing(self._tree(root, seqs, follow=follow)) as entries:
            async for found in entries:
                if trace:
                    for decided in trace_in(found.run, found.entry):
                        yield decided
                for event in events_in(found.run, (found.entry,), seqs.get(found.run, -1)):
                    yield event

    async def tree(
        self, run: str, after: int = -1, *, follow: bool = False
    ) -> AsyncGenerator[tuple[RunId, Entry], None]:
        """The journals of a run and of the runs it called, in the order of their commits; the run's end is last.

        Entries before the one with the first event behind `after` are left out."""
        root = (await self._lookup.row(run)).run
        async with aclosing(self._tree(root, {root: after}, follow=follow)) as entries:
            async for found in entries:
                yield found.run, found.entry

    def _tree(self, root: RunId, seqs: Mapping[str, int], *, follow: bool) -> AsyncGenerator[LineEntry, None]:
        return end_last(self._tree_in_line(root, seqs, follow=follow), root)

    async def _tree_in_line(
        self, root: RunId, seqs: Mapping[str, int], *, follow: bool
    ) -> AsyncGenerator[LineEntry, None]:
        reader = LineReader(self._reads, root, await self._place_behind(root, seqs))
        async with aclosing(entries_of_line(reader, follow=follow)) as entries:
            async for entry in entries:
                yield entry

    async def _place_behind(self, root: RunId, seqs: Mapping[str, int]) -> Position:
        """The first place behind which something lies that these sequence numbers do not cover."""
        first = await self.position(root, seqs.get(root, -1))
        for run, seq in seqs.items():
            if run != root and await self._reads.row(RunId(run)) is not None:
                found = await self._reads.place(RunId(run), seq)
                if found is None or await self._has_more(RunId(run), found, seq):
                    first = min(first, await self.position(run, seq))
        return first

    async def _has_more(self, run: RunId, place: EntryPlace, seq: int) -> bool:
        """Whether a run has stored events behind one of the entry at this place."""
        entries = await self._reads.stretch(run, place.number, place.number + 1)
        return len(entries) != 1 or seq < place.first_event + count_events(entries[0].decisions) - 1

    async def position(self, run: str, seq: int) -> Position:
        """The place in the line behind an event of a run."""
        known = (await self._lookup.row(run)).run
        found = await self._reads.place(known, seq)
        if found is not None:
            return Position(found.position, max(seq - found.first_event + 1, 0))
        if await self._reads.oldest(known) not in (0, None):
            raise Refused("history_pruned", f"the history of run {run} was pruned", "ask for its record")
        return START

    async def head(self) -> Position:
        """The place behind all that is stored."""
        return behind(await self._reads.head())

    async def line_reader(self, run: str | None = None, after: Position | str | None = None) -> LineReader:
        """A reader of the line: see `LineReader`."""
        root = None if run is None else (await self._lookup.row(run)).run
        return LineReader(self._reads, root, position_in(after) if isinstance(after, str) else after)

    async def line(
        self, after: Position | str | None = None, *, run: str | None = None, follow: bool = False
    ) -> AsyncGenerator[LineEntry, None]:
        """The journal entries of all runs, or of a run and of the runs it called, in the order of their commits."""
        async with aclosing(entries_of_line(await self.line_reader(run, after), follow=follow)) as entries:
            async for entry in entries:
                yield entry

    async def journal(self, run: str, after: int = -1, *, follow: bool = False) -> AsyncGenerator[Entry, None]:
        """A run's own journal entries, oldest first; with `follow`, also those to come, until the run has ended."""
        known = (await self._lookup.row(run)).run
        if follow:
            async for entry in self._reads.watch(known, after):
                yield entry
        else:
            for entry in await self._reads.entries(known, after):
                yield entry

    async def tokens(self, run: str) -> tuple[TokenView, ...]:
        """Every token the run ever had."""
        from jeton.engine.views.tokens import token_views

        known = (await self._lookup.row(run)).run
        entries = await self._reads.entries(known)
        return tuple(await asyncio.to_thread(token_views, entries, known))

    async def context(self, run: str, token: int | None = None) -> Context:
        """The run's data as it is now, or was when the run, or the token, ended."""
        row = await self._lookup.row(run)
        if token is not None:
            from jeton.engine.look.explaining import context_of_token

            return await asyncio.to_thread(context_of_token, await self._history(row), token)
        state = (await self._lookup.live(row.run)).state
        return Context(state.input, state.state, row.output if row.status == "completed" else state.output)

    async def emitted(
        self, *, run: str | None = None, event: str | None = None, after: int = 0, limit: int = 100
    ) -> tuple[EmittedEvent, ...]:
        """Events that actions published, oldest first: of a run, of a name, or all, behind the number `after`."""
        check_maybe_texts(event=event)
        check_whole("limit", limit, 1, MOST_ROWS)
        known = None if run is None else (await self._lookup.row(run)).run
        found = await self._reads.published(run=known, event=event, after=after, limit=limit)
        return tuple(map(emitted_event, found))

    async def metrics(self, run: str | None = None) -> tuple[MetricValue, ...]:
        """The metrics of a run; or of all runs, including those that were pruned."""
        known = None if run is None else (await self._lookup.row(run)).run
        return tuple(map(metric_value, await self._reads.metrics(known)))

    async def explain(self, run: str, *, token: int | None = None, transition: int | None = None) -> Explanation:
        """Why the run, one of its tokens or one of its transitions did what it did."""
        from jeton.engine.look.explaining import explanation_of  # explanations are made from much that runs do not need

        row = await self._lookup.row(run)
        needs_app = self._lookup.host.needs_app.get(row.run)
        return await asyncio.to_thread(explanation_of, await self._history(row), token, transition, needs_app)

    async def _history(self, row: RunRow) -> RunHistory:
        from jeton.engine.views.explain.explain import RunHistory

        program = await self._lookup.program(row.workflow, row.version)
        entries = await self._reads.entries(row.run)
        return RunHistory(program, Head(row.run, row.workflow, row.version), entries)

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
        from jeton.engine.views.what_if import what_if

        row = await self._lookup.row(run)
        program = await self._lookup.program(row.workflow, row.version)
        live, now = await self._lookup.live(row.run), self._lookup.host.now()
        suppose = partial(what_if, result=result, failure=failure, arrives_at=arrives_at)
        return await asyncio.to_thread(suppose, program, live, token, now)

    async def workflow(self, reference: str) -> Library:
        """A deployed workflow with all it calls. Raises Refused if there is none."""
        return (await self._lookup.bundle(*parse_reference(reference)))[0]
