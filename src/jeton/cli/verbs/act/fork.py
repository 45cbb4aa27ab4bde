"""`jeton fork RUN --at ENTRY`: a new run that shares another's history."""

import asyncio
import sys
from functools import partial

import click

from jeton.cli.app import load_app
from jeton.cli.chatting.forking import fork_turn, is_conversation
from jeton.cli.options import app_option, json_option, store_option, wait_option
from jeton.cli.output import reporting_errors
from jeton.cli.store import must_exist
from jeton.cli.verbs.act.run import start_and_follow
from jeton.engine.engine import Engine
from jeton.engine.input import read_value
from jeton.engine.run import Run
from jeton.engine.talk.looking_back import ToolsMode
from jeton.model.json import Json


@click.command("fork")
@click.argument("run")
@click.option(
    "--at",
    type=click.IntRange(min=0),
    required=True,
    metavar="ENTRY|TURN",
    help="The last journal entry shared; of a conversation, the turn that is done again.",
)
@click.option("--message", metavar="TEXT", help="Of a conversation: say this instead.")
@click.option("--persona", metavar="NAME", help="Of a conversation: another persona.")
@click.option("--model", "profile", metavar="PROFILE", help="Of a conversation: another model profile.")
@click.option(
    "--tools",
    type=click.Choice(("recorded", "live")),
    default="recorded",
    show_default=True,
    help="Give tools the results they had, or run them.",
)
@click.option("--set", "edits", multiple=True, metavar="PATH=JSON", help="Edit the new run's state; may be repeated.")
@wait_option
@app_option
@store_option
@json_option
def command(
    run: str,
    at: int,
    message: str | None,
    persona: str | None,
    profile: str | None,
    tools: ToolsMode,
    edits: tuple[str, ...],
    wait_s: float | None,
    app: str | None,
    store: str,
    as_json: bool,
) -> None:
    """Start a new run that shares a run's history up to a journal entry, and follow it to its end.

    Of a conversation, begin one that shares its history before a turn, and do that turn again: with another message,
    persona or model, and with the results that tools had then (recorded) or by running them (live).

    Finished work in the shared history is not repeated. Entries are numbered from 0; `jeton events --trace --json`
    shows the entry of each decision.
    """

    with reporting_errors(as_json):
        writes = dict(map(_edit, edits))
        must_exist(store)
        load_app(app)

        if is_conversation(store, run):
            fork_of = partial(
                fork_turn, run, at, message=message, persona=persona, profile=profile, tools=tools, wait_s=wait_s
            )
            sys.exit(asyncio.run(fork_of(store, as_json)))
        if message is not None or persona is not None or profile is not None:
            raise click.UsageError("--message, --persona and --model are for a conversation")

        async def fork(engine: Engine) -> Run:
            return await engine.fork(run, at, writes)

        sys.exit(asyncio.run(start_and_follow(fork, wait_s, store=store, as_json=as_json)))


def _edit(text: str) -> tuple[str, Json]:
    path, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"{text}: write PATH=JSON", param_hint="--set")
    return path, read_value(value, "--set")
