"""Triggers, and credits."""

import msgspec

from jeton.api.route import Answer, Call, Nothing, Route, route
from jeton.api.routes.looking import check_limit
from jeton.api.views import Firings, Triggers, UsageByNode
from jeton.engine.browse.cursor import cursor_of, place_in
from jeton.engine.credits import CreditsView
from jeton.engine.views.firings import FiringView
from jeton.engine.views.plain import plain
from jeton.model.json import Json


class FiringsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    after: str | None = None
    limit: int = 100


class AllFiringsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`run`: the firing that started this run."""

    trigger: str | None = None
    run: str | None = None
    limit: int = 100


class CreditsUsageQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of a run (with `tree`, and of all that it called), of a workflow, or on a day such as 2026-05-04."""

    run: str | None = None
    tree: bool = False
    workflow: str | None = None
    day: str | None = None


class FireBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    payload: Json = None
    delivery_id: str | None = None


class TopUpBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    amount: int


async def list_triggers(call: Call[Nothing, Nothing]) -> Answer:
    """All triggers, by name."""
    return Answer(plain(Triggers(await call.engine.triggers())))


async def list_firings(call: Call[FiringsQuery, Nothing]) -> Answer:
    """What deliveries to a trigger came to, newest first."""
    query = call.query
    before = None if query.after is None else place_in(query.after, "firings", int)
    found, following = await call.engine.browse.firings(call.path["trigger"], before, check_limit(query.limit))
    return Answer(plain(Firings(found, None if following is None else cursor_of("firings", following))))


async def list_all_firings(call: Call[AllFiringsQuery, Nothing]) -> Answer:
    """What deliveries came to, newest first: to one trigger or to all, or the one that started a run."""
    query = call.query
    found = await call.engine.firings(query.trigger, run=query.run, limit=check_limit(query.limit))
    return Answer(plain(Firings(found, None)))


async def fire_trigger(call: Call[Nothing, FireBody]) -> Answer:
    """Fire a trigger by hand. The same delivery id fires once."""
    fired = await call.engine.fire(call.path["trigger"], call.body.payload, delivery_id=call.body.delivery_id)
    return Answer(plain(fired), 202)


async def remove_trigger(call: Call[Nothing, Nothing]) -> Answer:
    """Remove a trigger. What it fired stays on record."""
    await call.engine.remove_trigger(call.path["trigger"])
    return Answer(status=204)


async def credits_account(call: Call[Nothing, Nothing]) -> Answer:
    """The project's credit account."""
    return Answer(plain(await call.engine.credits()))


async def credits_usage(call: Call[CreditsUsageQuery, Nothing]) -> Answer:
    """What was used, by day, run and node, as `jeton credits` has it."""
    query = call.query
    found = await call.engine.usage(query.run, workflow=query.workflow, day=query.day, tree=query.tree)
    return Answer(plain(UsageByNode(found)))


async def top_up_credits(call: Call[Nothing, TopUpBody]) -> Answer:
    """Add credits to the project's account."""
    return Answer(plain(await call.engine.top_up(call.body.amount)))


ROUTES: tuple[Route, ...] = (
    route("GET", "/triggers", "read", list_triggers, {200: Triggers}, query=Nothing, body=Nothing),
    route(
        "GET", "/triggers/{trigger}/firings", "read", list_firings, {200: Firings}, query=FiringsQuery, body=Nothing,
        codes="unknown_trigger bad_cursor",
    ),
    route(
        "POST", "/triggers/{trigger}/fire", "run", fire_trigger, {202: FiringView}, query=Nothing, body=FireBody,
        codes="unknown_trigger unknown_workflow disabled input_invalid too_deep bad_value no_account",
    ),
    route(
        "DELETE", "/triggers/{trigger}", "admin", remove_trigger, {204: None}, query=Nothing, body=Nothing,
        codes="unknown_trigger",
    ),
    route("GET", "/firings", "read", list_all_firings, {200: Firings}, query=AllFiringsQuery, body=Nothing),
    route("GET", "/credits", "read", credits_account, {200: CreditsView}, query=Nothing, body=Nothing),
    route(
        "GET", "/credits/usage", "read", credits_usage, {200: UsageByNode}, query=CreditsUsageQuery, body=Nothing,
        codes="unknown_run",
    ),
    route(
        "POST", "/credits/top-up", "admin", top_up_credits, {200: CreditsView}, query=Nothing, body=TopUpBody,
        codes="no_account",
    ),
)  # fmt: skip
