"""`jeton replay CONVERSATION`: do the turns of a conversation again, and show what differs."""

import asyncio
import sys
from contextlib import AsyncExitStack

import click

from jeton.cli.app import load_app
from jeton.cli.options import Exit, app_option, json_option, store_option
from jeton.cli.output import cut, echo, echo_json, printable, reporting_errors, short_json
from jeton.cli.store import connected, is_url, must_exist
from jeton.engine.opening import open
from jeton.engine.talk.looking_back import ReplayedTurn, ToolsMode
from jeton.engine.views.plain import plain


@click.command("replay")
@click.argument("conversation")
@click.option("--persona", metavar="NAME", help="Another persona.")
@click.option("--model", "profile", metavar="PROFILE", help="Another model profile.")
@click.option(
    "--tools",
    type=click.Choice(("recorded", "live")),
    default="recorded",
    show_default=True,
    help="Give tools the results they had, or run them.",
)
@app_option
@store_option
@json_option
def command(
    conversation: str,
    persona: str | None,
    profile: str | None,
    tools: ToolsMode,
    app: str | None,
    store: str,
    as_json: bool,
) -> None:
    """Do every ended turn of a conversation again, each in a fork of its own, and show what differs.

    With recorded tools nothing runs: calls have the results that they had. Exits with 0 if nothing differs, else 1.
    """
    with reporting_errors(as_json):
        must_exist(store)
        load_app(app)

        async def replayed() -> tuple[ReplayedTurn, ...]:
            async with AsyncExitStack() as stack:
                engine = await (connected(store, stack) if is_url(store) else stack.enter_async_context(open(store)))
                talk = await engine.converse("", conversation=conversation)
                return await talk.replay(persona=persona, profile=profile, tools=tools)

        turns = asyncio.run(replayed())
        if as_json:
            echo_json({"conversation_id": conversation, "turns": [plain(turn) for turn in turns]})
        else:
            for turn in turns:
                echo(f"turn {turn.turn}: {'the same' if turn.same else 'differs'} ({turn.conversation_id})")
                for each in turn.differences:
                    before, after = (cut(printable(short_json(value))) for value in (each.before, each.after))
                    echo(f"  {each.what}: {before} -> {after}")
        sys.exit(Exit.DONE if all(turn.same for turn in turns) else Exit.RUN_FAILED)
