"""Many runs: lists by queries, and actions on all that a query finds."""

import asyncio
from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from jeton.actor.queries.listing import RunFilter, RunPlace, place_of
from jeton.actor.rows import RunRow
from jeton.api.route import Answer, Call, Nothing, Route, route
from jeton.api.routes.control import check_cancelled
from jeton.api.routes.looking import check_limit
from jeton.api.times import milliseconds_in
from jeton.api.views import ActionsDone, RefusedRun, RunList, summary_of
from jeton.engine.browse.cursor import cursor_of, place_in
from jeton.engine.browse.query import RunQuery, read_query, read_statuses
from jeton.engine.browse.search import Found
from jeton.engine.engine import Engine
from jeton.engine.views.plain import plain
from jeton.model.failure import Refused
from jeton.model.ids import RunId

MOST_AT_ONCE = 1000
SIDE_BY_SIDE = 50  # actions under way, which share commits

RunAction: TypeAlias = Literal["cancel", "pause", "unpause", "retry"]


class RunsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which runs: `status` has several joined by commas, `since` is included and `until` is not."""

    workflow: str | None = None
    status: str | None = None
    q: str = ""
    since: str | None = None
    until: str | None = None
    after: str | None = None
    limit: int = 100


class ActionQuery(RunsQuery, frozen=True, forbid_unknown_fields=True):
    """Which runs an action is for, at most so many of them at once. `next` is the `after` of the next call."""

    limit: int = MOST_AT_ONCE


class ActionBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to do, and with which runs: by their ids, or all that a query finds, `limit` at a time."""

    action: RunAction
    runs: list[str] | None = None
    query: ActionQuery | None = None
    reason: str = ""
    dry_run: bool = False


async def list_runs(call: Call[RunsQuery, Nothing]) -> Answer:
    """Runs, newest first. A page may have few runs and still a next one, since each looks at so many runs only."""
    found = await _find(call.engine, call.query)
    records = await call.engine.browse.records(found.rows)
    return Answer(plain(RunList(tuple(map(summary_of, records)), _cursor(found.next))))


async def act_on_runs(call: Call[Nothing, ActionBody]) -> Answer:
    """Cancel, pause, unpause or retry up to 1,000 runs. What is not possible with one does not hold up the others."""
    body = call.body
    if (body.runs is None) == (body.query is None):
        raise Refused("ambiguous", "either `runs` or `query` says which runs", "send one of them")
    following: RunPlace | None = None
    if body.runs is not None:
        if len(body.runs) > MOST_AT_ONCE:
            raise Refused("bad_argument", f"runs: are more than {MOST_AT_ONCE}", "send fewer at a time")
        runs = [RunId(run) for run in dict.fromkeys(body.runs)]
    else:
        found = await _find(call.engine, body.query or ActionQuery())
        rows = found.rows if body.action == "retry" else await _callers(call.engine, body.query, found.rows)
        runs, following = [row.run for row in rows], found.next
    if body.dry_run:
        return Answer(plain(ActionsDone(len(runs), (), (), _cursor(following))))
    done, refused = await _act(call.engine, body, runs)
    return Answer(plain(ActionsDone(len(runs), tuple(done), tuple(refused), _cursor(following))))


async def _act(engine: Engine, body: ActionBody, runs: list[RunId]) -> tuple[list[str], list[RefusedRun]]:
    room = asyncio.Semaphore(SIDE_BY_SIDE)

    async def act(run: RunId) -> RefusedRun | None:
        async with room:
            try:
                await _one(engine, body, run)
            except Refused as refused:
                return RefusedRun(run, refused.code, refused.problem)
            return None

    results = await asyncio.gather(*map(act, runs))
    done = [run for run, result in zip(runs, results, strict=True) if result is None]
    return list(done), [result for result in results if result is not None]


async def _one(engine: Engine, body: ActionBody, run: RunId) -> None:
    match body.action:
        case "cancel":
            check_cancelled(await engine.cancel(run, body.reason))
        case "pause":
            await engine.pause(run)
        case "unpause":
            await engine.unpause(run)
        case "retry":
            await engine.retry(run)


async def _callers(engine: Engine, query: RunsQuery | None, rows: Sequence[RunRow]) -> list[RunRow]:
    """The runs without those whose callers the query finds too: a change reaches the runs that a run called.

    A call that is cancelled by itself would make its caller fail."""
    read, wanted = _read(query or RunsQuery())
    found: dict[RunId, bool] = {}
    kept: list[RunRow] = []
    for row in rows:
        above = () if row.parent is None else (row.parent.run, row.parent.root)
        for run in above:
            if run not in found:
                found[run] = await engine.browse.search.means(read, wanted, run)
        if not any(found[run] for run in above):
            kept.append(row)
    return kept


async def _find(engine: Engine, query: RunsQuery) -> Found:
    read, wanted = _read(query)
    after = None if query.after is None else await _place(engine, query.after)
    limit = check_limit(query.limit)
    found = await engine.browse.search.find(read, wanted, after, limit + 1)  # one more tells whether there are more
    if len(found.rows) <= limit:
        return found
    return Found(found.rows[:limit], place_of(found.rows[limit - 1]))


def _read(query: RunsQuery) -> tuple[RunQuery, RunFilter]:
    wanted = RunFilter(
        query.workflow,
        frozenset() if query.status is None else read_statuses(query.status),
        None if query.since is None else milliseconds_in(query.since),
        None if query.until is None else milliseconds_in(query.until),
    )
    return read_query(query.q), wanted


async def _place(engine: Engine, after: str) -> RunPlace:
    """The place that a cursor names, or that a run has, since `jeton ls --after` names the last run of a page."""
    try:
        place: RunPlace = place_in(after, "runs", RunPlace)
    except Refused:
        found = await engine.browse.search.place(RunId(after))
        if found is None:
            raise
        return found
    return place


def _cursor(place: RunPlace | None) -> str | None:
    return None if place is None else cursor_of("runs", place)


ROUTES: tuple[Route, ...] = (
    route(
        "GET", "/runs", "read", list_runs, {200: RunList}, query=RunsQuery, body=Nothing,
        codes="bad_query bad_cursor",
    ),
    route(
        "POST", "/runs/actions", "run", act_on_runs, {200: ActionsDone}, query=Nothing, body=ActionBody,
        codes="bad_query bad_cursor ambiguous",
    ),
)  # fmt: skip
