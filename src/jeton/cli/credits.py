"""`jeton credits`: what is left in the project's account, and what was used."""

import asyncio
from typing import TYPE_CHECKING

import click

from jeton.cli.options import json_option, store_option
from jeton.cli.say import answering, say, say_json, table

if TYPE_CHECKING:
    from jeton.engine.credits import CreditsView, UsageView


@click.command("credits")
@click.option("--top-up", "amount", type=int, metavar="N", help="Put so many credits in first.")
@click.option("--run", metavar="RUN", help="Only what this run used.")
@click.option("--workflow", metavar="NAME", help="Only what runs of this workflow used.")
@click.option("--day", metavar="YYYY-MM-DD", help="Only what was used on this day, in UTC.")
@store_option
@json_option
def command(
    amount: int | None, run: str | None, workflow: str | None, day: str | None, store: str, as_json: bool
) -> None:
    """Show the project's account, and what each workflow used on each day.

    Exits with 5 if there is no account to put credits into.
    """

    async def read() -> "tuple[CreditsView, tuple[UsageView, ...]]":
        from jeton.engine.engine import open

        async with open(store, owner=False) as engine:
            account = await engine.credits() if amount is None else await engine.top_up(amount)
            return account, await engine.usage(run, workflow=workflow, day=day)

    with answering(as_json):
        account, usage = asyncio.run(read())
        _say(account, usage, as_json)


def _say(account: "CreditsView", usage: "tuple[UsageView, ...]", as_json: bool) -> None:
    from jeton.engine.plain import plain

    if as_json:
        say_json({**plain(account), "usage": [plain(each) for each in usage]})
        return
    say("no limit" if account.balance is None else f"{account.balance} left, {account.granted} with runs under way")
    days: dict[tuple[str, str], tuple[int, int]] = {}
    for each in usage:
        used, short = days.get((each.day, each.workflow), (0, 0))
        days[each.day, each.workflow] = used + each.credits, short + each.shortfall
    if days:
        rows: list[tuple[str, ...]] = [(*of, str(used), str(short)) for of, (used, short) in days.items()]
        for line in table(("DAY", "WORKFLOW", "USED", "SHORTFALL"), rows):
            say(line)
