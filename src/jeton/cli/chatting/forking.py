"""Forks and replays of conversations."""

import asyncio
from contextlib import AsyncExitStack

from jeton.cli.chatting.show import conversation_json, echo_conversation
from jeton.cli.options import Exit
from jeton.cli.output import echo_json
from jeton.cli.store import ask, connected, is_url, remote_conversation
from jeton.engine.engine import Engine
from jeton.engine.opening import open
from jeton.engine.talk.conversation import Conversation
from jeton.engine.talk.looking_back import ToolsMode
from jeton.engine.views.conversation import ConversationView
from jeton.model.definition.agent import agent_of
from jeton.model.failure import Refused


def is_conversation(store: str, run: str) -> bool:
    """Whether an id is that of a conversation. Raises Refused if there is neither a run nor a conversation."""
    try:
        return agent_of(ask(store, lambda engine: engine.get(run)).workflow) is not None
    except Refused as refused:
        if refused.code != "run_set_aside":
            raise
        return False  # it was never stored, and only runs are started from the inbox


async def fork_turn(
    conversation: str,
    turn: int,
    store: str,
    as_json: bool,
    *,
    message: str | None,
    persona: str | None,
    profile: str | None,
    tools: ToolsMode,
    wait_s: float | None,
) -> Exit:
    """Do a turn again in a fork, and print the new conversation."""
    async with AsyncExitStack() as stack:
        engine = await (connected(store, stack) if is_url(store) else stack.enter_async_context(open(store)))
        talk = await engine.converse("", conversation=conversation)
        forked = await talk.fork(turn, message=message, persona=persona, profile=profile, tools=tools)
        view = await _settled(engine, forked, wait_s)
    if as_json:
        echo_json(conversation_json(view))
    else:
        echo_conversation(view)
    return exit_of(view)


async def _settled(engine: Engine, conversation: Conversation, wait_s: float | None) -> ConversationView:
    """The conversation when nothing moves, or the time is over."""
    there = remote_conversation(conversation)
    if there is not None:
        from jeton.cli.remote import until_quiet  # the client is loaded for a server only

        return await until_quiet(there, wait_s)
    if wait_s is None:
        await engine.idle()
    else:
        await asyncio.wait({asyncio.create_task(engine.idle())}, timeout=wait_s)
    return await conversation.view()


def exit_of(view: ConversationView) -> Exit:
    """The exit code of the last turn."""
    if any(turn.status == "active" for turn in view.turns):
        return Exit.STILL_WAITING
    return Exit.DONE if view.turns and view.turns[-1].status == "completed" else Exit.RUN_FAILED
