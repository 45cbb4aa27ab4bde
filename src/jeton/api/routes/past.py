"""What happened in a run: its events, its journal entries, what they changed, and what it was like after each."""

import msgspec

from jeton.api.route import Answer, Call, Nothing, Route, route
from jeton.api.routes.looking import MAX_LIMIT, AtQuery, check_limit
from jeton.api.views import Deltas, Entries, Events
from jeton.engine.views.past.graph import RunGraph
from jeton.engine.views.past.slots import SlotsView
from jeton.engine.views.plain import plain
from jeton.model.failure import Refused

LARGEST = 1 << 31


class EventsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Events behind the sequence number `after`."""

    after: int = -1
    limit: int = 100


class EntriesQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Entries behind the number `after`."""

    after: int = -1
    limit: int = 100


class DeltasQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From one entry to another, both included; at most 1,000."""

    first: int = msgspec.field(name="from")
    last: int = msgspec.field(name="to")


class SlotsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Slots from one index up to another, which is not included."""

    first: int = msgspec.field(name="from", default=0)
    last: int | None = msgspec.field(name="to", default=None)
    at: int | None = None


async def run_events(call: Call[EventsQuery, Nothing]) -> Answer:
    """The run's own events behind a sequence number, oldest first."""
    after = _check("after", call.query.after, -1)
    found, more = await call.engine.browse.events(call.path["run"], after, check_limit(call.query.limit))
    following = found[-1]["seq"] if more and found else None
    return Answer(plain(Events(tuple(found), following if isinstance(following, int) else None)))


async def run_entries(call: Call[EntriesQuery, Nothing]) -> Answer:
    """The run's journal entries behind one of them, oldest first."""
    after, limit = _check("after", call.query.after, -1), check_limit(call.query.limit)
    found = await call.engine.entries(call.path["run"], after, limit + 1)  # one more tells whether there are more
    page = found[:limit]
    return Answer(plain(Entries(page, page[-1].number if len(found) > limit else None)))


async def run_deltas(call: Call[DeltasQuery, Nothing]) -> Answer:
    """What each entry changed: tokens at nodes, and the run's data as JSON Patch."""
    first, last = _check("from", call.query.first, 0), _check("to", call.query.last, 0)
    if last - first >= MAX_LIMIT:
        raise Refused("bad_argument", f"from, to: are more than {MAX_LIMIT} entries", "ask for them part by part")
    return Answer(plain(Deltas(await call.engine.deltas(call.path["run"], first, last))))


async def run_graph(call: Call[AtQuery, Nothing]) -> Answer:
    """How many tokens are and were at each node, and how far fan-outs have got."""
    return Answer(plain(await call.engine.graph(call.path["run"], at=call.query.at)))


async def group_slots(call: Call[SlotsQuery, Nothing]) -> Answer:
    """The slots of a fan-out as stretches of the same status, and its failures by kind."""
    group, query = call.path["group"], call.query
    if not (group.isascii() and group.isdigit() and len(group) < 10):
        raise Refused("unknown_group", f"'{group[:40]}' is no fan-out", "see the groups of the run's graph")
    first = _check("from", query.first, 0)
    last = None if query.last is None else _check("to", query.last, first)
    found = await call.engine.slots(call.path["run"], int(group), first, last, at=query.at)
    return Answer(plain(found))


def _check(name: str, number: int, least: int) -> int:
    if not least <= number <= LARGEST:
        raise Refused("bad_argument", f"{name}: must be {least} to {LARGEST}", "name one that there is")
    return number


OF_A_RUN = "unknown_run history_pruned unknown_entry"
ROUTES: tuple[Route, ...] = (
    route(
        "GET", "/runs/{run}/events", "read", run_events, {200: Events}, query=EventsQuery, body=Nothing,
        codes="unknown_run history_pruned",
    ),
    route(
        "GET", "/runs/{run}/entries", "read", run_entries, {200: Entries}, query=EntriesQuery, body=Nothing,
        codes="unknown_run history_pruned",
    ),
    route(
        "GET", "/runs/{run}/deltas", "read", run_deltas, {200: Deltas}, query=DeltasQuery, body=Nothing,
        codes=OF_A_RUN,
    ),
    route("GET", "/runs/{run}/graph", "read", run_graph, {200: RunGraph}, query=AtQuery, body=Nothing, codes=OF_A_RUN),
    route(
        "GET", "/runs/{run}/groups/{group}/slots", "read", group_slots, {200: SlotsView}, query=SlotsQuery,
        body=Nothing, codes=f"{OF_A_RUN} unknown_group",
    ),
)  # fmt: skip
