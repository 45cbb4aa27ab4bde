"""Look at runs."""

import asyncio

import msgspec

from jeton.api.route import Answer, Call, Nothing, Route, route
from jeton.api.routes.control import waited
from jeton.api.views import ChildList, Context, RunAnswer, Tokens, summary_of
from jeton.engine.views.explain.condense import condensed
from jeton.engine.views.explain.views import Explanation
from jeton.engine.views.plain import plain
from jeton.model.failure import Refused

MAX_LIMIT = 1000


class RunQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`at`: as it was after that journal entry. `wait_ms`: after its end, if that comes in time."""

    wait_ms: int = 0
    at: int | None = None


class AtQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`at`: as it was after that journal entry."""

    at: int | None = None


class TokenQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`token`: as that token sees or saw it. `at`: as it was after that journal entry."""

    token: int | None = None
    at: int | None = None


class ExplainQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A token, a transition, or neither: the run. `at`: as it was after that journal entry.

    `alike`: how many are listed of what is alike; the last of them has in `alike` how many were left out."""

    token: int | None = None
    transition: int | None = None
    at: int | None = None
    alike: int | None = None


async def get_run(call: Call[RunQuery, Nothing]) -> Answer:
    """The record of a run; with `wait_ms`, after its end if that comes in time."""
    run, query = call.path["run"], call.query
    if query.at is None:
        record = await waited(call, run, query.wait_ms)
    elif query.wait_ms:
        raise Refused("ambiguous", "what was is not waited for", "leave `wait_ms` or `at` out")
    else:
        record = await call.engine.get(run, at=query.at)
    return Answer({**plain(record), "metrics": [plain(each) for each in await call.engine.metrics(record.run_id)]})


async def run_tokens(call: Call[AtQuery, Nothing]) -> Answer:
    """Every token the run ever had."""
    return Answer(plain(Tokens(await call.engine.tokens(call.path["run"], at=call.query.at))))


async def run_context(call: Call[TokenQuery, Nothing]) -> Answer:
    """The run's data."""
    query = call.query
    return Answer(msgspec.to_builtins(await call.engine.context(call.path["run"], token=query.token, at=query.at)))


async def explain_run(call: Call[ExplainQuery, Nothing]) -> Answer:
    """Why the run, one of its tokens or one of its transitions did what it did."""
    query = call.query
    if query.token is not None and query.transition is not None:
        raise Refused("ambiguous", "a token and a transition are named", "name one of them")
    found = await call.engine.explain(call.path["run"], token=query.token, transition=query.transition, at=query.at)
    if query.alike is None:
        return Answer(plain(found))
    if not 1 <= query.alike <= MAX_LIMIT:
        raise Refused("bad_argument", f"alike: must be 1 to {MAX_LIMIT}", "leave it out for everything")
    return Answer(plain(await asyncio.to_thread(condensed, found, query.alike)))


async def run_children(call: Call[Nothing, Nothing]) -> Answer:
    """The runs it called, in order."""
    found = await call.engine.children(call.path["run"])
    return Answer(plain(ChildList(tuple(map(summary_of, found)))))


def check_limit(limit: int) -> int:
    """Raise Refused for a page that is too small or too large."""
    if not 1 <= limit <= MAX_LIMIT:
        raise Refused("bad_argument", f"limit: must be 1 to {MAX_LIMIT}", "ask for the next page by its cursor")
    return limit


OF_A_RUN = "unknown_run history_pruned unknown_entry"
ROUTES: tuple[Route, ...] = (
    route(
        "GET", "/runs/{run}", "read", get_run, {200: RunAnswer}, query=RunQuery, body=Nothing,
        codes=f"{OF_A_RUN} ambiguous",
    ),
    route("GET", "/runs/{run}/tokens", "read", run_tokens, {200: Tokens}, query=AtQuery, body=Nothing, codes=OF_A_RUN),
    route(
        "GET", "/runs/{run}/context", "read", run_context, {200: Context}, query=TokenQuery, body=Nothing,
        codes=f"{OF_A_RUN} token_not_found",
    ),
    route(
        "GET", "/runs/{run}/explain", "read", explain_run, {200: Explanation}, query=ExplainQuery, body=Nothing,
        codes=f"{OF_A_RUN} token_not_found transition_not_found ambiguous",
    ),
    route(
        "GET", "/runs/{run}/children", "read", run_children, {200: ChildList}, query=Nothing, body=Nothing,
        codes="unknown_run",
    ),
)  # fmt: skip
