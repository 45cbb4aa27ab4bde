"""`jeton memory AGENT`: what an agent remembers."""

import asyncio
from collections.abc import Sequence
from typing import Literal, TypeAlias

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, echo_table, local_time, plain_list, printable, reporting_errors
from jeton.cli.store import ask, open_beside_owner
from jeton.engine.engine import Engine
from jeton.engine.views.memory import ForgottenMemory, MemoryView

SHOWN = 80  # characters of a content
DEFAULT_FOUND, DEFAULT_LISTED = 10, 100

What: TypeAlias = Literal["list", "search", "delete", "export"]


@click.command("memory")
@click.argument("agent")
@click.argument("what", type=click.Choice(("list", "search", "delete", "export")), default="list")
@click.argument("words", nargs=-1, metavar="[TEXT | ID]...")
@click.option("--user", metavar="U", help="Only what belongs to this user; empty for nobody.")
@click.option("--type", "kind", metavar="T", help="Only memories of this type.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")
@click.option("--after", metavar="ID", help="List those that are older than this one.")
@click.option("--superseded", is_flag=True, help="List also what was superseded.")
@store_option
@json_option
def command(
    agent: str,
    what: What,
    words: tuple[str, ...],
    user: str | None,
    kind: str | None,
    limit: int | None,
    after: str | None,
    superseded: bool,
    store: str,
    as_json: bool,
) -> None:
    """List what an agent remembers, search it (TEXT), delete some of it (ID), or export all of it as JSON.

    Deleting is final, and names the conversations whose history still has it. It works beside a running jeton too.
    """
    if bool(words) != (what in ("search", "delete")):
        needs = {"search": "a TEXT to search for", "delete": "the ID of a memory"}
        raise click.UsageError(f"{what} needs {needs[what]}" if what in needs else f"{what} takes no more words")
    with reporting_errors(as_json):
        if what == "delete":
            _echo_deleted(asyncio.run(_delete(store, agent, words)), as_json)
        elif what == "export":
            echo_json({"agent": agent, "memories": plain_list(ask(store, lambda engine: _all(engine, agent, user)))})
        elif what == "search":
            most, text = limit or DEFAULT_FOUND, " ".join(words)
            found = ask(store, lambda engine: engine.search_memories(agent, text, user=user, type=kind, limit=most))
            _echo_found(found, as_json)
        else:
            most = limit or DEFAULT_LISTED
            found = ask(store, lambda engine: _page(engine, agent, user, kind, superseded, after, most + 1))
            _echo_list(found, most, as_json)


async def _page(
    engine: Engine, agent: str, user: str | None, kind: str | None, superseded: bool, after: str | None, limit: int
) -> tuple[MemoryView, ...]:
    return await engine.memories(agent, user=user, type=kind, superseded=superseded, after=after, limit=limit)


async def _all(engine: Engine, agent: str, user: str | None) -> list[MemoryView]:
    return [memory async for memory in engine.export_memories(agent, user=user)]


async def _delete(store: str, agent: str, ids: Sequence[str]) -> tuple[ForgottenMemory, ...]:
    async with open_beside_owner(store) as engine:
        return await engine.delete_memories(agent, ids)


def _echo_deleted(gone: Sequence[ForgottenMemory], as_json: bool) -> None:
    names = list(dict.fromkeys(name for each in gone for name in each.conversations))
    if as_json:
        echo_json({"deleted": True, "conversations": names})
        return
    echo("deleted 1 memory" if len(gone) == 1 else f"deleted {len(gone)} memories")
    if names:
        echo(f"still in the history of: {printable(', '.join(names))}")


def _echo_found(found: Sequence[MemoryView], as_json: bool) -> None:
    if as_json:
        echo_json({"memories": plain_list(found)})
        return
    rows = [(f"{0 if each.scores is None else each.scores.total:.3f}", *_cells(each)) for each in found]
    echo_table(("SCORE", "ID", "TYPE", "USER", "SINCE", "CONTENT"), rows, "nothing is remembered about that")


def _echo_list(found: Sequence[MemoryView], limit: int, as_json: bool) -> None:
    page, more = found[:limit], len(found) > limit
    if as_json:
        echo_json({"memories": plain_list(page), **({"next": page[-1].id} if more else {})})
        return
    echo_table(("ID", "TYPE", "USER", "SINCE", "CONTENT"), [_cells(each) for each in page], "nothing is remembered")
    if more:
        echo(f"there are more: --after {page[-1].id}")


def _cells(memory: MemoryView) -> tuple[str, ...]:
    user = "" if memory.scope == "agent" else printable(memory.user or "(nobody)")
    content = printable(memory.content)
    short = content if len(content) <= SHOWN else f"{content[: SHOWN - 1]}…"
    mark = "" if memory.superseded_by is None else "(superseded) "
    return memory.id, printable(memory.type), user, local_time(memory.created_at), mark + short
