"""Runs by queries, page by page. The work for a page is bounded: one with few runs may still have a next one."""

from collections.abc import AsyncGenerator

import msgspec

from jeton.actor.advance import LiveRun
from jeton.actor.queries.listing import RunFilter, RunPage, RunPlace, fits, place_of
from jeton.actor.rows import RunRow
from jeton.engine.browse.query import RunQuery, same_scalar, value_at
from jeton.engine.lookup import Lookup
from jeton.model.definition.agent import agent_of
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.reference import parse_reference
from jeton.model.state.run import TERMINAL

LOOK_AT = 5_000  # runs, for one page
LOAD = 500  # states of runs, for one page
AT_A_TIME = 500
MOST_OF_A_TREE = 5_000


class Found(msgspec.Struct, frozen=True):
    """Runs, newest first, and the place to go on from; None if there are no more."""

    rows: tuple[RunRow, ...]
    next: RunPlace | None


class Search:
    """Finds runs by queries."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._listing = lookup.host.listing

    async def find(self, query: RunQuery, wanted: RunFilter, after: RunPlace | None, limit: int) -> Found:
        """Runs that a query and a filter mean, behind a place."""
        narrowed = _narrowed(query, wanted)
        if narrowed is None:
            return Found((), None)
        rows: list[RunRow] = []
        loads = 0
        reached = after
        async for page in self._pages(query, narrowed, after):
            for row in page.rows:
                if query.needs_state and _fits_row(query, row):
                    if loads == LOAD:
                        return Found(tuple(rows), reached)
                    loads += 1
                if await self._fits(query, row):
                    rows.append(row)
                reached = place_of(row)
                if len(rows) == limit:
                    return Found(tuple(rows), reached)
            reached = page.reached
        return Found(tuple(rows), reached)

    async def all(self, query: RunQuery, wanted: RunFilter, after: RunId | None, limit: int) -> list[RunRow]:
        """Runs that a query and a filter mean, behind a run, however many runs must be looked at."""
        place = None if after is None else await self.place(after)
        if after is not None and place is None:
            return []
        rows: list[RunRow] = []
        while True:
            found = await self.find(query, wanted, place, limit - len(rows))
            rows += found.rows
            place = found.next
            if place is None or len(rows) == limit:
                return rows

    async def means(self, query: RunQuery, wanted: RunFilter, run: RunId) -> bool:
        """Whether a query and a filter mean a run that has not ended."""
        narrowed, row = _narrowed(query, wanted), await self._lookup.host.reads.row(run)
        if narrowed is None or row is None or row.status in TERMINAL:
            return False
        return fits(narrowed, row) and agent_of(row.workflow) is None and await self._fits(query, row)

    async def place(self, run: RunId) -> RunPlace | None:
        """The place of a run in lists; None if there is no such run."""
        row = await self._lookup.host.reads.row(run)
        return None if row is None else place_of(row)

    async def _pages(self, query: RunQuery, wanted: RunFilter, after: RunPlace | None) -> AsyncGenerator[RunPage, None]:
        """Candidates: by an id or a key in the query if there is one, else by the filter."""
        known = await self._named(query, wanted)
        if known is not None:
            behind = (row for row in known if after is None or place_of(row) < after)
            yield RunPage(tuple(row for row in behind if fits(wanted, row) and agent_of(row.workflow) is None), None)
            return
        looked_at = 0
        while looked_at < LOOK_AT:
            page = await self._listing.runs(wanted, after, AT_A_TIME)
            yield page
            if page.reached is None:
                return
            looked_at += AT_A_TIME
            after = page.reached

    async def _named(self, query: RunQuery, wanted: RunFilter) -> list[RunRow] | None:
        """The only runs that can be meant, if the query has the whole id of a run, or a workflow and a key."""
        if query.key and wanted.workflow is not None:
            run = await self._listing.started(wanted.workflow, query.key[0])
            row = None if run is None else await self._lookup.host.reads.row(run)
            return [] if row is None else [row]
        for word in query.words:
            found = await self._listing.tree(RunId(word), MOST_OF_A_TREE)
            if found:
                return found
        return None

    async def _fits(self, query: RunQuery, row: RunRow) -> bool:
        if not _fits_row(query, row):
            return False
        if not query.needs_state:
            return True
        try:
            live = await self._lookup.host.reads.live(row.run)
        except Refused:  # a damaged run has no state that could be compared
            return False
        return live is not None and _fits_state(query, row, live)


def _narrowed(query: RunQuery, wanted: RunFilter) -> RunFilter | None:
    """The filter with what the query says of workflow and status; None if nothing can fit both."""
    names = {parse_reference(name)[0] for name in query.workflow}
    names |= set() if wanted.workflow is None else {wanted.workflow}
    statuses = query.statuses & wanted.statuses if query.statuses and wanted.statuses else None
    if len(names) > 1 or (statuses is not None and not statuses):
        return None
    both = query.statuses | wanted.statuses if statuses is None else statuses
    return msgspec.structs.replace(wanted, workflow=next(iter(names), None), statuses=both)


def _fits_row(query: RunQuery, row: RunRow) -> bool:
    error = "" if row.error is None else f"{row.error.type}: {row.error.message}".casefold()
    searched = (row.run.casefold(), (row.key or "").casefold(), error)
    started_by = ("manual",) if row.trigger is None else (row.trigger.type, row.trigger.id)
    return (
        all(any(word.casefold() in text for text in searched) for word in query.words)
        and all(text.casefold() in error for text in query.error)
        and all(key == row.key for key in query.key)
        and all(trigger in started_by for trigger in query.trigger)
        and all(_is_version(name, row) for name in query.workflow)
    )


def _is_version(reference: str, row: RunRow) -> bool:
    name, version = parse_reference(reference)
    return name == row.workflow and version in (None, row.version)


def _fits_state(query: RunQuery, row: RunRow, live: LiveRun) -> bool:
    tokens = () if row.status in TERMINAL else live.state.tokens.values()
    nodes = {token.node for token in tokens if not token.abandoned}
    if row.error is not None and row.error.node is not None:
        nodes.add(row.error.node)
    if not all(node in nodes for node in query.node):
        return False
    values = [(value_at(live.state.state, term.path), term.value) for term in query.state]
    return all(found is not None and same_scalar(found[0], wanted) for found, wanted in values)
