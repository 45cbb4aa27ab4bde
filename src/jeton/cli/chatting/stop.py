"""Stopping turns of a conversation."""

import asyncio

from jeton.cli.chatting.forking import is_conversation
from jeton.cli.chatting.show import conversation_json, echo_conversation
from jeton.cli.output import echo_json
from jeton.cli.store import must_exist, open_beside_owner, remote_conversation, wait_until_idle
from jeton.engine.engine import Engine
from jeton.engine.talk.conversation import Conversation
from jeton.engine.views.conversation import ConversationView


def stop_turns(store: str, conversation: str, turn: int | None, reason: str, dry_run: bool, as_json: bool) -> bool:
    """Stop a turn, or all that move, and print the conversation. Returns False if it is a run."""
    must_exist(store)
    if not is_conversation(store, conversation):
        return False
    view = asyncio.run(_stop(store, conversation, turn, reason, dry_run))
    if as_json:
        echo_json(conversation_json(view))
    else:
        echo_conversation(view)
    return True


async def _stop(store: str, conversation: str, turn: int | None, reason: str, dry_run: bool) -> ConversationView:
    async with open_beside_owner(store, work=True) as engine:
        talk = await engine.converse("", conversation=conversation)
        if not dry_run:
            await talk.cancel(turn, reason)
            return await _stopped(engine, talk)
        return await talk.view()


async def _stopped(engine: Engine, talk: Conversation) -> ConversationView:
    """The conversation after its turns have ended: at once here, within a moment at a server."""
    there = remote_conversation(talk)
    if there is not None:
        from jeton.cli.remote import SETTLE_S, until_quiet  # the client is loaded for a server only

        return await until_quiet(there, SETTLE_S)
    await wait_until_idle(engine)
    return await talk.view()
