"""`jeton chat FILE AGENT`: talk to an agent."""

import asyncio
import mimetypes
import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from jeton.cli.chatting.forking import exit_of
from jeton.cli.chatting.session import Session
from jeton.cli.chatting.show import conversation_json, echo_conversation
from jeton.cli.follow import cancelled, stop_event
from jeton.cli.library import load_file
from jeton.cli.options import Exit, app_option, json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors
from jeton.cli.store import (
    connected,
    echo_missing_functions,
    is_url,
    no_app_at_server,
    remote_conversation,
    remote_engine,
)
from jeton.engine.build.source import declared_in
from jeton.engine.engine import Engine
from jeton.engine.opening import open
from jeton.engine.talk.conversation import ChatTurn, Conversation
from jeton.engine.views.conversation import ConversationView
from jeton.model.chat import Attachment
from jeton.model.failure import Refused
from jeton.model.state.talk import WhenBusy

if TYPE_CHECKING:
    from jeton.api.client import RemoteEngine

MAX_ATTACHMENT_BYTES = 100_000_000


@click.command("chat")
@click.argument("file", type=click.Path())
@click.argument("agent")
@click.option("--message", "messages", multiple=True, metavar="TEXT", help="Say this; may be repeated.")
@click.option("--conversation", metavar="ID", help="Go on with this conversation.")
@click.option("--key", metavar="KEY", help="The same command with the same key goes on where it was.")
@click.option("--wait", "wait_s", type=click.FloatRange(min=0), metavar="S", help="Wait at most S seconds for answers.")
@click.option(
    "--when-busy",
    type=click.Choice(("queue", "steer", "interrupt")),
    default="queue",
    show_default=True,
    help="While a turn moves: wait for it, add to it, or stop it.",
)
@click.option("--to", metavar="AGENT", help="Speak to an agent that joined the conversation.")
@click.option("--attach", "files", multiple=True, type=click.Path(exists=True, dir_okay=False), help="Attach a file.")
@click.option("--user", metavar="NAME", help="Who speaks; agents can keep memories for each user apart.")
@app_option
@store_option
@json_option
def command(
    file: str,
    agent: str,
    messages: tuple[str, ...],
    conversation: str | None,
    key: str | None,
    wait_s: float | None,
    when_busy: WhenBusy,
    to: str | None,
    files: tuple[str, ...],
    user: str | None,
    app: str | None,
    store: str,
    as_json: bool,
) -> None:
    """Talk to an agent of a file, in the terminal or with --message.

    Exits with 0 if the last turn completed, with 1 if it failed, was stopped or ran out of credits, with 4 if a turn is
    still active: it waits for a person, or goes on with `jeton resume`.
    """
    if as_json and not messages:
        raise click.UsageError("with --json, say something with --message")
    with reporting_errors(as_json):
        said = _Said(messages, key, when_busy, to, user, files)
        if is_url(store):
            no_app_at_server(app)
        opened = _at_server(store, file) if is_url(store) else _at_store(store, file, app, as_json)
        sys.exit(asyncio.run(_chat(opened, agent, conversation, said, wait_s, as_json)))


class _Said:
    """What is said, and how."""

    def __init__(
        self,
        messages: tuple[str, ...],
        key: str | None,
        when_busy: WhenBusy,
        to: str | None,
        user: str | None,
        files: tuple[str, ...],
    ) -> None:
        self.messages, self.key, self.to, self.user = messages, key, to, user
        self.when_busy: WhenBusy = when_busy
        self.files = files

    async def send(self, conversation: Conversation) -> list[ChatTurn]:
        """Send the chat messages, each with a key of its own if there is one. Files go with the first.

        The text is part of the key: another message under the same key is said, and not taken for the one before."""
        attachments = [await _attach(conversation, file) for file in self.files]
        turns: list[ChatTurn] = []
        for number, text in enumerate(self.messages):
            key = (
                None
                if self.key is None
                else f"{self.key}:{number}:{sha256(text.encode(errors='surrogatepass')).hexdigest()[:12]}"
            )
            with_files = attachments if number == 0 else []
            sent = await conversation.send(
                text, attachments=with_files, key=key, when_busy=self.when_busy, to=self.to, user=self.user
            )
            turns.append(sent)
        return turns


async def _attach(conversation: Conversation, file: str) -> Attachment:
    path = Path(file)
    if path.stat().st_size > MAX_ATTACHMENT_BYTES:
        raise Refused("file_too_large", f"{file} is larger than {MAX_ATTACHMENT_BYTES} bytes", "attach a smaller file")
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return await conversation.attach(path.read_bytes(), media_type, path.name)


async def _chat(
    opened: AbstractAsyncContextManager[tuple[Engine, bool]],
    agent: str,
    conversation: str | None,
    said: _Said,
    wait_s: float | None,
    as_json: bool,
) -> Exit:
    async with opened as (engine, owns):
        talk = await engine.converse(agent, key=said.key, user=said.user, conversation=conversation)
        if not said.messages:
            return await Session(engine, talk, agent, said.user).run()
        async with stop_event() as stop:
            turns = await said.send(talk)
            await _follow(engine, talk, turns, stop, owns, wait_s)
            if remote_engine(engine) is None:
                echo_missing_functions(engine.needs_app)
            view = await talk.view()
    chosen = {turn.id for turn in turns}
    shown = ConversationView(
        view.conversation_id, view.agent, view.status, [turn for turn in view.turns if turn.id in chosen]
    )
    if as_json:
        echo_json(conversation_json(shown))
    else:
        echo_conversation(shown)
    return exit_of(shown)


@asynccontextmanager
async def _at_server(url: str, file: str) -> AsyncGenerator[tuple[Engine, bool]]:
    """Connect to a server, and deploy the file there, if the key may. The server makes the model calls."""
    from jeton.cli.remote import deploy_at  # the client is loaded for a server only

    async with AsyncExitStack() as stack:
        engine = await connected(url, stack)
        there = cast("RemoteEngine", engine)
        try:
            await deploy_at(there, file)
        except Refused as refused:
            if refused.code != "scope_missing":
                raise
            echo("the key may not deploy: the agent is the one that the server has", err=True)
        yield engine, False


@asynccontextmanager
async def _at_store(store: str, file: str, app: str | None, as_json: bool) -> AsyncGenerator[tuple[Engine, bool]]:
    """Open a store, and deploy the file if it is ours. `owns`: this process makes the model calls."""
    loaded = load_file(file, app=app)
    library = loaded.require()
    for problem in () if as_json else loaded.problems:
        echo(printable(f"{problem.severity}: {problem.path}: {problem.problem}"), err=True)
    async with _open(store) as (engine, owns):
        if owns:
            await engine.deploy_library(library, declared_in(file))
        yield engine, owns


@asynccontextmanager
async def _open(store: str) -> AsyncGenerator[tuple[Engine, bool]]:
    """Open a store as its owner, or beside the process that owns it, which then makes the model calls."""
    async with AsyncExitStack() as stack:
        try:
            engine = await stack.enter_async_context(open(store))
        except Refused as refused:
            if refused.code != "store_owned":
                raise
            yield await stack.enter_async_context(open(store, owner=False)), False
        else:
            yield engine, True


async def _follow(
    engine: Engine,
    conversation: Conversation,
    turns: list[ChatTurn],
    stop: asyncio.Event,
    owns: bool,
    wait_s: float | None,
) -> None:
    """Wait until every turn has ended, the time is over, or, without a time, nothing moves without a person."""

    async def all_ended() -> None:
        for turn in turns:
            await turn.result()

    waiting: set[asyncio.Task[Any]] = {asyncio.create_task(all_ended()), asyncio.create_task(stop.wait())}
    if wait_s is None and owns:
        waiting.add(asyncio.create_task(engine.idle()))
    there = remote_conversation(conversation)
    if wait_s is None and there is not None:
        from jeton.cli.remote import until_quiet  # the client is loaded for a server only

        waiting.add(asyncio.create_task(until_quiet(there, None)))
    try:
        done, _ = await asyncio.wait(waiting, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await cancelled(*waiting)
