"""Conversations with agents."""

import msgspec

from jeton.actor.access.keys import ApiKey
from jeton.api.route import Answer, Call, Nothing, Route, route
from jeton.api.routes.looking import check_limit
from jeton.api.views import Agents, Begun, Conversations, TurnBegun
from jeton.engine.browse.cursor import cursor_of, place_in
from jeton.engine.engine import Engine
from jeton.engine.talk.looking_back import MoveExplanation, ToolsMode
from jeton.engine.views.conversation import ConversationView
from jeton.engine.views.plain import plain
from jeton.model.chat import Attachment
from jeton.model.definition.agent import agent_of
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.state.talk import WhenBusy

MOST_ATTACHED = 100


class ConversationsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`active`: only those in which a turn moves."""

    agent: str | None = None
    active: bool = False
    after: str | None = None
    limit: int = 100


class BeginBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One conversation per agent and `key`. `user` is who speaks, if the key has no person."""

    key: str | None = None
    user: str | None = None


class AttachedBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An artifact that was put before, and the name of the file that it was."""

    id: str
    media_type: str | None = None
    name: str | None = None


class MessageBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`when_busy`: while a turn moves, wait for it, add to it, or stop it. `to`: an agent that joined."""

    text: str
    key: str | None = None
    attachments: list[AttachedBody] = []
    when_busy: WhenBusy = "queue"
    to: str | None = None
    user: str | None = None


class StopBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A turn, or all that have begun."""

    turn: int | None = None
    reason: str = ""


class ForkTalkBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The turn that is done again: with another message, persona or model profile, and with recorded or live tools."""

    turn: int
    message: str | None = None
    persona: str | None = None
    profile: str | None = None
    tools: ToolsMode = "recorded"


class MoveQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    turn: int
    move: int = 0


async def list_agents(call: Call[Nothing, Nothing]) -> Answer:
    """The agents that were deployed."""
    names = [agent_of(name) for name in await call.engine.deployed()]
    return Answer(plain(Agents(tuple(name for name in names if name is not None))))


async def list_conversations(call: Call[ConversationsQuery, Nothing]) -> Answer:
    """Conversations, newest first."""
    query = call.query
    limit = check_limit(query.limit)
    after = None if query.after is None else await _place(call.engine, query.after)
    found = await call.engine.conversations(agent=query.agent, active=query.active, after=after, limit=limit + 1)
    page = found[:limit]
    following = cursor_of("conversations", page[-1].id) if len(found) > limit else None
    return Answer(plain(Conversations(page, following)))


async def _place(engine: Engine, after: str) -> str:
    """The last conversation of a page, which a cursor names, or which is named itself."""
    if await engine.browse.search.place(RunId(after)) is not None:
        return after
    found: str = place_in(after, "conversations", str)
    return found


async def get_conversation(call: Call[Nothing, Nothing]) -> Answer:
    """A conversation with all its turns."""
    return Answer(plain(await call.engine.conversation(call.path["conversation"])))


async def begin_conversation(call: Call[Nothing, BeginBody]) -> Answer:
    """Begin a conversation with an agent. With a key, one conversation per agent and key."""
    user = person_speaking(call.caller, call.body.user)
    conversation = await call.engine.converse(call.path["agent"], key=call.body.key, user=user)
    return _begun(conversation.id)


async def send_message(call: Call[Nothing, MessageBody]) -> Answer:
    """Say something in a conversation. The turn goes on by itself."""
    body = call.body
    if len(body.attachments) > MOST_ATTACHED:
        raise Refused("bad_argument", f"attachments: are more than {MOST_ATTACHED}", "attach fewer")
    user = person_speaking(call.caller, body.user)
    conversation = await call.engine.converse("", conversation=call.path["conversation"])
    attached = [await _attached(call, each) for each in body.attachments]
    turn = await conversation.send(
        body.text, attachments=attached, key=body.key, when_busy=body.when_busy, to=body.to, user=user
    )
    return Answer(plain(TurnBegun(turn.id)), 202)


async def _attached(call: Call[Nothing, MessageBody], given: AttachedBody) -> Attachment:
    held = await call.engine.browse.hold(call.path["conversation"], given.id)
    return Attachment(held.id, given.media_type or held.media_type, held.size, given.name)


async def stop_turns(call: Call[Nothing, StopBody]) -> Answer:
    """Stop a turn, or all that have begun. The conversation goes on."""
    conversation = await call.engine.converse("", conversation=call.path["conversation"])
    await conversation.cancel(call.body.turn, call.body.reason)
    return Answer(plain(await conversation.view()))


async def fork_conversation(call: Call[Nothing, ForkTalkBody]) -> Answer:
    """Begin a conversation that shares this one's history before a turn, and does that turn again."""
    body = call.body
    conversation = await call.engine.converse("", conversation=call.path["conversation"])
    forked = await conversation.fork(
        body.turn, message=body.message, persona=body.persona, profile=body.profile, tools=body.tools
    )
    return _begun(forked.id)


async def explain_move(call: Call[MoveQuery, Nothing]) -> Answer:
    """What a model was given for an answer of a turn, and what was left out."""
    conversation = await call.engine.converse("", conversation=call.path["conversation"])
    return Answer(plain(await conversation.explain(call.query.turn, call.query.move)))


def _begun(conversation: RunId) -> Answer:
    headers = {"location": f"/v1/conversations/{conversation}"}
    return Answer(plain(Begun(conversation)), 201, headers)


def person_speaking(caller: ApiKey, user: str | None) -> str | None:
    """Who speaks. Raises Refused for a key of one person that would speak as another."""
    if caller.person is None:
        return user
    if user is not None and user != caller.person:
        problem = f"user: the key belongs to {caller.person}, and speaks as nobody else"
        raise Refused("bad_argument", problem, "leave `user` out")
    return caller.person


READ_OR_ANSWER = "read answer"
ROUTES: tuple[Route, ...] = (
    route("GET", "/agents", READ_OR_ANSWER, list_agents, {200: Agents}, query=Nothing, body=Nothing),
    route(
        "GET", "/conversations", READ_OR_ANSWER, list_conversations, {200: Conversations}, query=ConversationsQuery,
        body=Nothing, codes="bad_cursor",
    ),
    route(
        "GET", "/conversations/{conversation}", READ_OR_ANSWER, get_conversation, {200: ConversationView},
        query=Nothing, body=Nothing, codes="unknown_run",
    ),
    route(
        "POST", "/agents/{agent}/conversations", "answer", begin_conversation, {201: Begun}, query=Nothing,
        body=BeginBody, codes="unknown_agent",
    ),
    route(
        "POST", "/conversations/{conversation}/messages", "answer", send_message, {202: TurnBegun}, query=Nothing,
        body=MessageBody, codes="unknown_run unknown_artifact unknown_agent run_ended bad_value",
    ),
    route(
        "POST", "/conversations/{conversation}/cancel", "answer", stop_turns, {200: ConversationView}, query=Nothing,
        body=StopBody, codes="unknown_run unknown_turn run_ended", share="kept",
    ),
    route(
        "POST", "/conversations/{conversation}/fork", "run", fork_conversation, {201: Begun}, query=Nothing,
        body=ForkTalkBody, codes="unknown_run unknown_turn unknown_persona unknown_profile history_pruned",
    ),
    route(
        "GET", "/conversations/{conversation}/explain", "read", explain_move, {200: MoveExplanation}, query=MoveQuery,
        body=Nothing, codes="unknown_run unknown_turn history_pruned",
    ),
)  # fmt: skip
