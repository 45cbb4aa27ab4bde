"""`jeton triggers`: what starts by itself, when next, and what became of it last."""

import asyncio
from typing import TYPE_CHECKING

import click

from jeton.cli.options import app_option, json_option, store_option
from jeton.cli.output import echo, echo_json, printable, reporting_errors, table
from jeton.cli.store import open_beside_owner

if TYPE_CHECKING:
    from jeton.engine.triggers import TriggerView
    from jeton.engine.views.firings import FiringView


@click.command("triggers")
@click.option("--deploy", "file", type=click.Path(), metavar="FILE", help="Deploy a file with its triggers first.")
@click.option("--firings", "name", metavar="NAME", help="What became of each delivery to this trigger, newest first.")
@click.option("--enable", metavar="WORKFLOW", help="Let triggers start this workflow again.")
@click.option("--disable", metavar="WORKFLOW", help="Have no trigger start this workflow.")
@click.option("--remove", metavar="NAME", help="Have this trigger no longer.")
@app_option
@store_option
@json_option
def command(
    file: str | None,
    name: str | None,
    enable: str | None,
    disable: str | None,
    remove: str | None,
    app: str | None,
    store: str,
    as_json: bool,
) -> None:
    """List triggers. They fire while a process owns the store: `jeton resume --watch` stays for them."""
    with reporting_errors(as_json):
        removed = () if file is None else asyncio.run(_deploy(store, file, app))
        for trigger in () if as_json else removed:
            echo(removal(trigger, file or ""))
        if enable or disable or remove:
            asyncio.run(_change(store, enable, disable, remove))
        asyncio.run(_list(store, removed, as_json) if name is None else _list_firings(store, name, as_json))


async def _deploy(store: str, file: str, app: str | None) -> tuple[str, ...]:
    """The triggers that the file no longer has."""
    from jeton.cli.library import load_file
    from jeton.engine.build.source import declared_in
    from jeton.engine.engine import open

    library = load_file(file, app).require()
    async with open(store, work=False) as engine:
        return (await engine.deploy_library(library, declared_in(file))).removed


def removal(trigger: str, file: str) -> str:
    """What is said of a trigger that the file once had."""
    return f"removed the trigger '{trigger}', which {printable(file)} no longer has"


async def _change(store: str, enable: str | None, disable: str | None, remove: str | None) -> None:
    async with open_beside_owner(store) as engine:
        if enable is not None:
            await engine.enable(enable)
        if disable is not None:
            await engine.disable(disable)
        if remove is not None:
            await engine.remove_trigger(remove)


async def _list(store: str, removed: tuple[str, ...], as_json: bool) -> None:
    from jeton.engine.engine import open
    from jeton.engine.views.plain import plain

    async with open(store, owner=False) as engine:
        found = await engine.triggers()
    if as_json:
        echo_json({"triggers": [plain(each) for each in found], "removed": removed})
    elif not found:
        echo("no triggers")
    else:
        for line in table(("TRIGGER", "TYPE", "STARTS", "NEXT", "LAST"), [_row(each) for each in found]):
            echo(line)


async def _list_firings(store: str, name: str, as_json: bool) -> None:
    from jeton.engine.engine import open
    from jeton.engine.views.plain import plain

    async with open(store, owner=False) as engine:
        found = await engine.firings(name)
    if as_json:
        echo_json({"firings": [plain(each) for each in found]})
    elif not found:
        echo("no firings")
    else:
        for each in found:
            echo(f"{_time(each)}  {_outcome(each)}")


def _row(each: "TriggerView") -> tuple[str, ...]:
    starts = f"{each.start} (disabled)" if each.disabled else each.start
    due = "" if each.next_at is None else each.next_at.astimezone().isoformat(" ", "seconds")[:19]
    last = "never" if each.last is None else f"{_time(each.last)} {_outcome(each.last)}"
    return each.name, each.type, starts, due, last


def _time(firing: "FiringView") -> str:
    return firing.at.astimezone().isoformat(" ", "seconds")[:19]


def _outcome(firing: "FiringView") -> str:
    return str(firing.run_id) if firing.run_id is not None else printable(f"{firing.code}: {firing.problem}")
