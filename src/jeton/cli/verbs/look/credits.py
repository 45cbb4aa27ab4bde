"""`jeton credits`: what is left in the project's account, and what was used."""

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.output import echo, echo_json, reporting_errors, table

if TYPE_CHECKING:
    from jeton.engine.credits import CreditsView, UsageView


@click.command("credits")
@click.option("--top-up", "amount", type=int, metavar="N", help="Put so many credits in first.")
@click.option("--run", metavar="RUN", help="Only what this run used.")
@click.option("--tree", is_flag=True, help="With --run: and what the runs below it used.")
@click.option("--workflow", metavar="NAME", help="Only what runs of this workflow used.")
@click.option("--day", metavar="YYYY-MM-DD", help="Only what was used on this day, in UTC.")
@store_option
@json_option
def command(
    amount: int | None, run: str | None, tree: bool, workflow: str | None, day: str | None, store: str, as_json: bool
) -> None:
    """Show the project's account, what each workflow used on each day, and the tokens of each model profile.

    Exits with 5 if there is no account to put credits into.
    """

    async def read() -> "tuple[CreditsView, tuple[UsageView, ...]]":
        from jeton.engine.engine import open

        async with open(store, owner=False) as engine:
            account = await engine.credits() if amount is None else await engine.top_up(amount)
            return account, await engine.usage(run, workflow=workflow, day=day, tree=tree)

    with reporting_errors(as_json):
        account, usage = asyncio.run(read())
        _echo(account, usage, as_json)


def _echo(account: "CreditsView", usage: "tuple[UsageView, ...]", as_json: bool) -> None:
    from jeton.engine.views.plain import plain

    if as_json:
        echo_json({**plain(account), "usage": [plain(each) for each in usage]})
        return
    echo("no limit" if account.balance is None else f"{account.balance} left, {account.granted} with runs under way")
    days = Counter[tuple[str, str, str]]()
    profiles = Counter[tuple[str, str, str]]()
    for each in usage:
        days[each.day, each.workflow, "used"] += each.credits
        days[each.day, each.workflow, "shortfall"] += each.shortfall
        for profile, tokens in each.tokens.items():
            profiles[each.day, profile, "input"] += tokens.input
            profiles[each.day, profile, "output"] += tokens.output
    _echo_sums(("DAY", "WORKFLOW", "USED", "SHORTFALL"), days)
    _echo_sums(("DAY", "PROFILE", "INPUT", "OUTPUT"), profiles)


def _echo_sums(heading: tuple[str, str, str, str], sums: "Counter[tuple[str, str, str]]") -> None:
    """A table with two sums a line, by day and by name."""
    places = list(dict.fromkeys((day, name) for day, name, _ in sums))
    rows = [(day, name, *(str(sums[day, name, what.lower()]) for what in heading[2:])) for day, name in places]
    for line in table(heading, rows) if rows else ():
        echo(line)
