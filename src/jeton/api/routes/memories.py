"""The memories of agents."""

import msgspec

from jeton.api.route import Answer, Call, Nothing, Route, route
from jeton.api.routes.looking import check_limit
from jeton.api.views import ForgottenMemories, Memories
from jeton.engine.views.memory import MemoryView
from jeton.engine.views.plain import plain
from jeton.model.failure import Refused

MOST_AT_ONCE = 1000


class MemoriesQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`q`: memories about these words, best first; without it all, newest first. `user`: of this user; empty: of none.

    `superseded` and `after` go with the list of all."""

    q: str | None = None
    user: str | None = None
    type: str | None = None
    superseded: bool = False
    after: str | None = None
    limit: int = 100


class ForgetBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    ids: list[str]


async def list_memories(call: Call[MemoriesQuery, Nothing]) -> Answer:
    """What an agent remembers: all of it, newest first, or what is about some words, best first."""
    query, agent = call.query, call.path["agent"]
    limit = check_limit(query.limit)
    if query.q is not None:
        if query.superseded or query.after is not None:
            problem = "`superseded` and `after` go with the list of all"
            raise Refused("ambiguous", problem, "leave them out, or leave `q` out")
        found = await call.engine.search_memories(agent, query.q, user=query.user, type=query.type, limit=limit)
        return Answer(plain(Memories(found, None)))
    found = await call.engine.memories(
        agent, user=query.user, type=query.type, superseded=query.superseded, after=query.after, limit=limit + 1
    )
    page = found[:limit]
    return Answer(plain(Memories(page, page[-1].id if len(found) > limit else None)))


async def get_memory(call: Call[Nothing, Nothing]) -> Answer:
    """One memory with all of its content, superseded or not."""
    return Answer(plain(await call.engine.memory(call.path["agent"], call.path["memory"])))


async def delete_memories(call: Call[Nothing, ForgetBody]) -> Answer:
    """Delete memories for good, all of them or none. Each answer names the conversations that still have it."""
    if len(call.body.ids) > MOST_AT_ONCE:
        raise Refused("bad_argument", f"ids: are more than {MOST_AT_ONCE}", "send fewer at a time")
    gone = await call.engine.delete_memories(call.path["agent"], call.body.ids)
    return Answer(plain(ForgottenMemories(gone)))


ROUTES: tuple[Route, ...] = (
    route(
        "GET", "/agents/{agent}/memories", "read", list_memories, {200: Memories}, query=MemoriesQuery, body=Nothing,
        codes="unknown_agent unknown_memory ambiguous",
    ),
    route(
        "GET", "/agents/{agent}/memories/{memory}", "read", get_memory, {200: MemoryView}, query=Nothing, body=Nothing,
        codes="unknown_agent unknown_memory",
    ),
    route(
        "POST", "/agents/{agent}/memories/delete", "admin", delete_memories, {200: ForgottenMemories}, query=Nothing,
        body=ForgetBody, codes="unknown_agent unknown_memory",
    ),
)  # fmt: skip
