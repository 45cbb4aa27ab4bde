"""`jeton triggers`: triggers, their next firing and their last one."""

import asyncio

import click

from jeton.cli.library import load_file
from jeton.cli.options import app_option, json_option, store_option
from jeton.cli.output import echo, echo_json, echo_table, local_time, plain_list, printable, removal, reporting_errors
from jeton.cli.store import ask, is_url, open_beside_owner
from jeton.engine.build.source import declared_in
from jeton.engine.opening import open
from jeton.engine.triggers import TriggerView
from jeton.engine.views.firings import FiringView


@click.command("triggers")
@click.option("--deploy", "file", type=click.Path(), metavar="FILE", help="Deploy a file with its triggers first.")
@click.option("--firings", "name", metavar="NAME", help="List the firings of this trigger instead, newest first.")
@click.option("--enable", metavar="WORKFLOW", help="Let triggers start this workflow again.")
@click.option("--disable", metavar="WORKFLOW", help="Keep triggers from starting this workflow.")
@click.option("--remove", metavar="NAME", help="Remove this trigger.")
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
    """List triggers, and change them first if asked to.

    Triggers fire while a process owns the store, such as `jeton resume --watch`.
    """
    with reporting_errors(as_json):
        removed = () if file is None else asyncio.run(_deploy(store, file, app))
        for trigger in () if as_json else removed:
            echo(removal(trigger, file or ""))
        if enable or disable or remove:
            asyncio.run(_change(store, enable, disable, remove))
        if name is None:
            _list_triggers(store, removed, as_json)
        else:
            _list_firings(store, name, as_json)


async def _deploy(store: str, file: str, app: str | None) -> tuple[str, ...]:
    """Deploy a file. Returns the triggers it no longer has, which were removed."""
    if is_url(store):
        from jeton.api.client import connect  # the client is loaded for a server only
        from jeton.cli.remote import deploy_at

        async with connect(store) as there:
            return (await deploy_at(there, file)).removed
    library = load_file(file, app=app).require()
    async with open(store, work=False) as engine:
        return (await engine.deploy_library(library, declared_in(file))).removed


async def _change(store: str, enable: str | None, disable: str | None, remove: str | None) -> None:
    async with open_beside_owner(store) as engine:
        if enable is not None:
            await engine.enable(enable)
        if disable is not None:
            await engine.disable(disable)
        if remove is not None:
            await engine.remove_trigger(remove)


def _list_triggers(store: str, removed: tuple[str, ...], as_json: bool) -> None:
    found = ask(store, lambda engine: engine.triggers())
    if as_json:
        echo_json({"triggers": plain_list(found), "removed": removed})
    else:
        echo_table(("TRIGGER", "TYPE", "STARTS", "NEXT", "LAST"), [_row(each) for each in found], "no triggers")


def _list_firings(store: str, name: str, as_json: bool) -> None:
    found = ask(store, lambda engine: engine.firings(name))
    if as_json:
        echo_json({"firings": plain_list(found)})
    elif not found:
        echo("no firings")
    else:
        for each in found:
            echo(_firing(each))


def _row(each: TriggerView) -> tuple[str, ...]:
    starts = f"{each.start} (disabled)" if each.disabled else each.start
    due = "" if each.next_at is None else local_time(each.next_at)
    return each.name, each.type, starts, due, "never" if each.last is None else _firing(each.last)


def _firing(firing: FiringView) -> str:
    """When it was, and the run it started or why it was refused."""
    refusal = f"{firing.code}: {firing.problem}"
    return f"{local_time(firing.at)} {printable(firing.run_id if firing.run_id is not None else refusal)}"
